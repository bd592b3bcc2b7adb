/**
 * Client code in a process of its own, with the package as its users load it. Argument: a request as JSON. Plans, runs,
 * and prints all that the client says of it.
 */
import {
  BackfillClient,
  type BackfillRequest,
  type BackfillResult,
  type Plan,
  type Progress,
  type RunRecord,
} from 'temporal-backfill';

export interface ClientSays {
  readonly plan: Plan;
  readonly result: BackfillResult;
  readonly progress: Progress;
  readonly run: RunRecord | null;
}

const request = JSON.parse(process.argv[2] ?? '{}') as BackfillRequest;
const client = await BackfillClient.connect();
const plan = await client.plan(request);
const handle = await client.start(request);
const result = await handle.result();
const said: ClientSays = { plan, result, progress: await handle.progress(), run: await client.readRun(result.planId) };
console.log(JSON.stringify(said));
await client.close();
