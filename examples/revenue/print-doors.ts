import { title } from '../shared/print.js';
import { REQUEST, RUN } from './request.js';
import type { RunningStack } from '../shared/stack.js';

/** Other ways to the same run. They are copied from here, so they are whole: the shell command is one line. */
export function printDoors({ uiUrl, temporalAddress, temporalCli }: RunningStack): void {
  const { table, from, to } = REQUEST;
  title('The same run in the Temporal Web UI');
  console.log(`${uiUrl}/namespaces/default/workflows/${encodeURIComponent(RUN)}`);
  title('The same from the Temporal CLI');
  console.log(
    `${temporalCli} workflow start --address ${temporalAddress} --task-queue backfill --type backfill --workflow-id '${RUN}' --input '${JSON.stringify(REQUEST)}'`,
  );
  title('The same from client code');
  console.log(`import { BackfillClient } from 'temporal-backfill';
const client = await BackfillClient.connect({ address: '${temporalAddress}' });
const run = await client.start({
  table: '${table}',
  from: '${from}',
  to: '${to}',
});
console.log(await run.result());
await client.close();`);
  title('To put the wrong amounts back, as they were before it');
  console.log(`npx backfill undo '${RUN}'`);
}
