/** The temporary table of a replacement's transaction, in which new rows wait that are not written at once. */
export const STAGED = 'pg_temp.backfill_rows';
