import { BackfillClient } from 'temporal-backfill';
const client = await BackfillClient.connect({ address: '127.0.0.1:34015' });
const run = await client.start({
  table: 'mart.daily_revenue',
  from: '2026-03-01',
  to: '2026-03-14',
});
console.log(await run.result());
await client.close();