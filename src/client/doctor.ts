import { Connection } from '@temporalio/client';
import { searchAttributes, sweepScheduleId } from '../contract.js';
import { type DoctorTarget, type Finding, ok, problem, warning } from '../domain/finding.js';
import { NoWorker, ServerUnreachable } from './errors.js';
import { type Session, call } from './session.js';
import { grpcErrorOf } from './translate.js';

/** Numbers of Temporal's API. */
const queueTypes = [
  ['workflow', 1],
  ['activity', 2],
] as const;

/** Of gRPC. */
const NOT_FOUND = 5;

type AskWorker = (question: DoctorTarget & { readonly workers: number }) => Promise<readonly Finding[]>;

/** What stands in the way of backfills: in Temporal, and as the worker sees it, in the database. */
export async function examine(session: Session, target: DoctorTarget, askWorker: AskWorker): Promise<Finding[]> {
  const server = await find('Temporal', () => examineServer(session));
  if (server.some(({ level }) => level === 'problem')) return server;
  const queues = await find('worker', () => examineQueues(session));
  const findings = [...server, ...(await find('search attributes', () => examineAttributes(session))), ...queues];
  findings.push(...(await find('sweep', () => examineSweep(session))));
  if (queues.some(({ level }) => level === 'problem')) return [...findings, unasked];
  return [...findings, ...(await findByWorker(session, target, askWorker))];
}

const unasked = warning(
  'PostgreSQL',
  'Not looked at: the worker does that',
  'Start a worker, and run this again; it says itself at its start what it misses.',
);

async function examineServer(session: Session): Promise<Finding[]> {
  const { client, address } = session;
  const { namespace } = client.options;
  const { serverVersion } = await call(session, () => client.workflowService.getSystemInfo({}));
  await call(session, () => client.workflowService.describeNamespace({ namespace }));
  const version = serverVersion || 'of an unknown version';
  return [ok('Temporal', `Server ${version} at ${address}`), ok('namespace', namespace)];
}

async function examineAttributes(session: Session): Promise<Finding[]> {
  const { connection, options } = session.client;
  const { namespace } = options;
  if (!(connection instanceof Connection)) return [];
  const names = Object.values(searchAttributes).map(({ name }) => name);
  const list = () => connection.operatorService.listSearchAttributes({ namespace });
  const answer = await call(session, list).catch((error: unknown) => {
    // Temporal Cloud lets nobody ask, and has no need of it for backfills.
    if (error instanceof ServerUnreachable && !error.isTransient) return undefined;
    throw error;
  });
  if (!answer) return [warning('search attributes', 'The server does not let us ask', 'Look in its own settings.')];
  const { customAttributes } = answer;
  const missing = names.filter((name) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return [ok('search attributes', names.join(', '))];
  const create = missing.map((name) => `--name ${name}`).join(' ');
  const remedy = `Run: temporal operator search-attribute create --namespace ${namespace} --type Keyword ${create}; then restart the workers.`;
  return [warning('search attributes', `Runs cannot be searched by ${missing.join(', ')}`, remedy)];
}

/** The schedule that drops copies of replaced rows. */
async function examineSweep(session: Session): Promise<Finding[]> {
  const { client, taskQueue } = session;
  const id = sweepScheduleId(taskQueue);
  const { namespace } = client.options;
  const question = { namespace, scheduleId: id };
  const found = await call(session, () => client.workflowService.describeSchedule(question)).catch((error: unknown) => {
    if (grpcErrorOf(error)?.code === NOT_FOUND) return undefined;
    throw error;
  });
  if (found?.schedule?.state?.paused) {
    return [
      warning(
        'sweep',
        `The schedule ${id} is paused: copies of replaced rows stay`,
        `Run: temporal schedule toggle --unpause --schedule-id ${id}.`,
      ),
    ];
  }
  if (found) return [ok('sweep', `The schedule ${id} drops copies of replaced rows whose time is over`)];
  const create = `temporal schedule create --namespace ${namespace} --schedule-id ${id} --workflow-id ${id} --type sweep --task-queue ${taskQueue} --interval 1d`;
  return [
    warning(
      'sweep',
      `There is no schedule ${id}: copies of replaced rows stay`,
      `Restart a worker, which makes it, or run: ${create}`,
    ),
  ];
}

async function examineQueues(session: Session): Promise<Finding[]> {
  const counts = await Promise.all(queueTypes.map(([, type]) => countPollers(session, type)));
  return queueTypes.map(([kind], i) => {
    const queue = `task queue ${session.taskQueue}`;
    return counts[i]
      ? ok(`${kind} worker`, `${counts[i]} on ${queue}, seen in the last minutes`)
      : problem(`${kind} worker`, `None on ${queue}`, 'Start one with "backfill worker".');
  });
}

async function countPollers(session: Session, taskQueueType: 1 | 2): Promise<number> {
  const { client, taskQueue } = session;
  const question = { namespace: client.options.namespace, taskQueue: { name: taskQueue }, taskQueueType };
  const { pollers } = await call(session, () => client.workflowService.describeTaskQueue(question));
  // A worker polls more than once at a time.
  return new Set(pollers.map(({ identity }) => identity)).size;
}

async function findByWorker(session: Session, target: DoctorTarget, askWorker: AskWorker): Promise<Finding[]> {
  try {
    return [...(await askWorker({ ...target, workers: await countPollers(session, 2) }))];
  } catch (error) {
    if (!(error instanceof NoWorker)) throw error;
    return [problem('worker', 'Those that were seen do not answer', 'Start one with "backfill worker".'), unasked];
  }
}

/** A server that does not answer, or does not permit the question, is a finding. */
async function find(check: string, examination: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await examination();
  } catch (error) {
    if (error instanceof ServerUnreachable) return [unusableServer(error, check)];
    const said = grpcErrorOf(error);
    if (said?.code !== NOT_FOUND) throw error;
    return [problem(check, said.details, 'Set TEMPORAL_NAMESPACE to one that exists, or create it.')];
  }
}

/** What to do about a Temporal server that cannot be used. */
export function unusableServer({ message }: ServerUnreachable, check = 'Temporal'): Finding {
  return problem(check, message, 'Set TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and its credentials, or start the server.');
}
