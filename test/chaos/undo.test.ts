import { expect, test } from 'vitest';
import { NEW, OLD, fingerprints, march } from '../support/fact.js';
import { closeGate, openGate } from '../support/gate.js';
import { rowsOf } from '../support/kept.js';
import { replacedKeys } from '../support/ledger.js';
import { untilAtGate } from '../support/sessions.js';
import { useGatedFact } from '../support/use-gated-fact.js';

const { harness, workers } = useGatedFact(null);

/** A gate on the way of a row of one day, whatever writes it. */
const HOLD = `create or replace function hold() returns trigger language plpgsql as $$ begin
    perform pass_gate('trigger'); return new; end $$;
  create trigger holding before insert on fact for each row
    when (new.id = 50 and new.day = '2024-03-03') execute function hold()`;

test('an undo whose worker is killed goes on with another one, and nothing is lost or there twice', async () => {
  const { client, db } = harness;
  const range = { table: 'fact', from: '2024-03-01', to: '2024-03-05' };
  const before = await rowsOf(db, 'fact');
  const worker = await workers.start();
  const { planId } = await (await client.start(range)).result();
  await db.query(HOLD);
  await closeGate(db, 'trigger');
  const undo = await client.undo(planId);
  const struck = await untilAtGate(db, '2024-03-03');
  worker.signal('SIGKILL');
  await worker.ended;
  const days = await fingerprints(db);
  for (const day of march(1, 2)) expect(days.get(day)).toMatchObject(OLD);
  for (const day of march(3, 5)) expect(days.get(day)).toMatchObject(NEW);
  await workers.start();
  await untilAtGate(db, '2024-03-03', struck);
  await openGate(db, 'trigger');
  const { planId: undoing } = await undo.result();
  expect(await rowsOf(db, 'fact')).toEqual(before);
  expect(await replacedKeys(db, undoing)).toEqual(march(1, 5));
});

test('a run that is killed in a partition keeps each replaced row once, and an undo puts each back', async () => {
  const { client, db } = harness;
  const before = await rowsOf(db, 'fact');
  const worker = await workers.start();
  await closeGate(db, '2024-03-02');
  const run = await client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-03' });
  const struck = await untilAtGate(db, '2024-03-02');
  worker.signal('SIGKILL');
  await worker.ended;
  await workers.start();
  await untilAtGate(db, '2024-03-02', struck);
  await openGate(db, '2024-03-02');
  const { planId } = await run.result();
  const { rows } = await db.query(
    `select backfill_key as key, count(*)::int as n from backfill.kept_${planId.replaceAll('-', '')} group by 1 order by 1`,
  );
  expect(rows).toEqual(march(1, 3).map((key) => ({ key, n: 100 })));
  await (await client.undo(planId)).result();
  expect(await rowsOf(db, 'fact')).toEqual(before);
});
