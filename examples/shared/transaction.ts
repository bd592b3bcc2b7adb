/** Runs SQL on one connection. Not on a pool: a load is one transaction. */
export type Query = (text: string, values?: unknown[]) => Promise<unknown>;

/** All of the steps, or none. */
export async function inTransaction(query: Query, steps: () => Promise<void>): Promise<void> {
  await query('begin');
  try {
    await steps();
    await query('commit');
  } catch (error) {
    // The first error is the one worth reading, even if the connection is gone and the rollback fails too.
    await query('rollback').catch(() => undefined);
    throw error;
  }
}
