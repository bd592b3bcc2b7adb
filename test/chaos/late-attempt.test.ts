import { expect, test } from 'vitest';
import { changedDays } from '../support/changed-days.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { closeGate, openGate } from '../support/gate.js';
import { replacedKeys, runState } from '../support/ledger.js';
import { hasSession, untilAtGate } from '../support/sessions.js';
import { useGatedFact } from '../support/use-gated-fact.js';

/** The server still gives tasks to the polls of a frozen worker, until these end after a minute. */
const LONG_MS = 150_000;

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10' };

const { harness, workers } = useGatedFact(null);

test(
  'a worker frozen in a replacement of a terminated run neither holds up a new plan nor writes after it',
  { timeout: 2 * LONG_MS },
  async () => {
    const { db, client, temporal } = harness;
    const frozen = await workers.start();
    await closeGate(db, '2024-03-05');
    const run = await client.start(request);
    const struck = await untilAtGate(db, '2024-03-05');
    frozen.signal('SIGSTOP');
    await temporal.workflow.getHandle(run.workflowId).terminate();

    await workers.start();
    const next = await client.start(request);
    const again = await untilAtGate(db, '2024-03-05', struck, LONG_MS);
    expect(again.planId).not.toBe(struck.planId);
    expect(await hasSession(db, struck)).toBe(false);
    expect(await runState(db, struck.planId)).toBe('abandoned');
    await openGate(db, '2024-03-05');
    expect(await next.result()).toMatchObject({ planId: again.planId, partitions: 10 });
    const after = await fingerprints(db);
    for (const day of march(1, 10)) expect(after.get(day)).toMatchObject(NEW);

    frozen.signal('SIGCONT');
    // It stops only when its attempt has ended, whatever that one came to.
    frozen.signal('SIGTERM');
    expect(await frozen.ended).toBe('code 0');
    expect(changedDays(after, await fingerprints(db))).toEqual([]);
    expect(await replacedKeys(db, struck.planId)).toEqual(march(1, 4));
  },
);
