/** What the demo asks for. */
export const REQUEST = { table: 'mart.daily_revenue', from: '2026-03-01', to: '2026-03-14' } as const;

/** The name that such a run has by default. */
export const RUN = `backfill/${REQUEST.table}/${REQUEST.from}..${REQUEST.to}`;
