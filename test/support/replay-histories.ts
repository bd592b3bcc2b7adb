import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Context } from '@temporalio/activity';
import { march } from './fact.js';
import { readChain } from './run-chain.js';
import { until } from './wait.js';
import { type WorkflowLab, createWorkflowLab } from './workflow-lab.js';
import type { World, WorldOptions } from './workflow-world.js';

const folder = join(import.meta.dirname, '../replay/histories');
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

type Handle = Awaited<ReturnType<WorkflowLab['start']>>;
export interface SavedHistory {
  readonly events: { readonly activityTaskScheduledEventAttributes?: { activityId: string } }[];
}

export function savedHistories(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort();
}

export function readHistory(file: string): { readonly text: string; readonly history: SavedHistory } {
  const text = readFileSync(join(folder, file), 'utf8');
  return { text, history: JSON.parse(text) as SavedHistory };
}

interface Behaviour {
  readonly world: WorldOptions;
  /** What happens to the run from outside. */
  readonly meanwhile?: (world: World, handle: Handle) => Promise<void>;
}

const behaviours: Readonly<Record<string, Behaviour>> = {
  completed: { world: { keys: march(1, 3) } },
  'failure-and-retry': {
    world: {
      keys: march(1, 4),
      write: (key, attempt) => {
        if (key === '2024-03-02' && attempt < 3) throw serverError('40P01', 'deadlock detected');
        if (key === '2024-03-03') throw serverError('23505', 'duplicate key value violates unique constraint');
      },
    },
  },
  'two-continue-as-news': { world: { keys: march(1, 5), pageSize: 2 } },
  'concurrency-4': { world: { keys: march(1, 10), options: { concurrency: 4, publish: 'any-order' } } },
  slices: {
    world: {
      keys: march(1, 31).flatMap((day) => [`${day}T00Z`, `${day}T12Z`]),
      write: (key, attempt) => {
        if (key === '2024-03-20T00Z' && attempt === 1) throw serverError('40P01', 'deadlock detected');
      },
    },
  },
  cancel: {
    world: {
      keys: march(1, 4),
      options: { concurrency: 2, publish: 'any-order' },
      write: (key) => (key === '2024-03-01' ? undefined : Context.current().cancelled),
    },
    meanwhile: async (world, handle) => {
      await until('two are in flight', () => world.done.size === 1 && world.inFlight === 2);
      await handle.cancel();
    },
  },
};

/** Runs every behaviour anew and keeps its histories in place of those of this version. */
export async function recordHistories(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const file of savedHistories().filter((name) => name.endsWith(`_${version}.json`))) rmSync(join(folder, file));
  const lab = await createWorkflowLab();
  try {
    for (const [name, behaviour] of Object.entries(behaviours)) {
      const chain = await run(lab, behaviour);
      chain.forEach((history, i) => save(chain.length === 1 ? name : `${name}-${i + 1}`, history));
      if (name === 'completed') save('spoiled_other-order', spoil(chain[0] ?? '{}'));
    }
  } finally {
    await lab.close();
  }
}

async function run(lab: WorkflowLab, { world: options, meanwhile }: Behaviour): Promise<string[]> {
  const world = lab.createWorld(options);
  const handle = await lab.start(world);
  await meanwhile?.(world, handle);
  await handle.result().catch(() => undefined);
  return (await readChain(lab.client, handle)).map((history) => scrub(historyToJSON(history)));
}

function save(name: string, history: string): void {
  writeFileSync(join(folder, `${name}_${version}.json`), history);
}

/** Stack traces name files of the machine; a replay does not read them. */
function scrub(json: string): string {
  const history: unknown = JSON.parse(json, (name, value: unknown) => (name === 'stackTrace' ? undefined : value));
  return `${JSON.stringify(history, null, 1)}\n`;
}

/** As if the run had written its second partition before its first. */
function spoil(json: string): string {
  const history = JSON.parse(json) as SavedHistory;
  const [first, second] = history.events
    .map((event) => event.activityTaskScheduledEventAttributes)
    .filter((scheduled) => scheduled?.activityId.includes('/'));
  if (!first || !second) throw new Error('There are no two partitions in the history');
  [first.activityId, second.activityId] = [second.activityId, first.activityId];
  return `${JSON.stringify(history, null, 1)}\n`;
}

function serverError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
