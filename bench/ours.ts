import { BackfillClient } from '../src/client/backfill-client.js';
import { readChain } from '../test/support/run-chain.js';
import { type RunPhases, phasesOf } from './phases.js';
import { type Scenario, TABLES, slicesOf } from './scenario.js';
import type { Servers } from './servers.js';

/** Starts runs, and reads of Temporal what they took. */
export interface Runner {
  /** @param count only so many partitions, from the first on */
  run(scenario: Scenario, concurrency: number, count?: number): Promise<RunPhases>;
}

export async function createRunner({ temporal: client }: Servers): Promise<Runner> {
  const backfills = await BackfillClient.connect({ client });
  return {
    async run(scenario, concurrency, count = scenario.count) {
      const keys = slicesOf({ ...scenario, count }).map(({ key }) => key);
      const [from = '', to = ''] = [keys[0], keys.at(-1)];
      const { target: table } = TABLES[scenario.grain];
      const order = concurrency === 1 ? {} : { concurrency, publish: 'any-order' as const };
      const run = await backfills.start({ table, from, to, ...order });
      await run.result();
      const { workflowId } = run;
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      const firstExecutionRunId = raw.workflowExecutionInfo?.firstRunId ?? '';
      return phasesOf(await readChain(client, { workflowId, firstExecutionRunId }));
    },
  };
}
