import type { History } from '../test/support/run-chain.js';

/** A task as the server saw it, in milliseconds since 1970. */
export interface Task {
  /** The activity's name; `workflow` for a workflow task. */
  readonly name: string;
  readonly scheduled: number;
  readonly started: number;
  readonly completed: number;
}

/** Where the time of one run went, by the server's clock. */
export interface RunPhases {
  /** From the start of the workflow to its close. */
  readonly totalMs: number;
  /** From the first partition scheduled to the last one completed. The rest is what every run costs, however long. */
  readonly writingMs: number;
  /** Of all histories of the run. */
  readonly events: number;
  /** Of the histories, from the first partition scheduled to the last one completed. */
  readonly writingEvents: number;
  readonly tasks: readonly Task[];
}

type Event = NonNullable<History['events']>[number];

/** Of one partition, or of several in a slice. */
export function isWriting({ name }: Pick<Task, 'name'>): boolean {
  return name.startsWith('replacePartition');
}

export function phasesOf(chain: readonly History[]): RunPhases {
  const tasks = chain.flatMap(tasksOf);
  const events = chain.flatMap((history) => history.events ?? []);
  const writes = tasks.filter(isWriting);
  const begun = Math.min(...writes.map(({ scheduled }) => scheduled));
  const ended = Math.max(...writes.map(({ completed }) => completed));
  return {
    totalMs: timeOf(events.at(-1)) - timeOf(events[0]),
    writingMs: ended - begun,
    events: events.length,
    writingEvents: events.filter((event) => timeOf(event) >= begun && timeOf(event) <= ended).length,
    tasks,
  };
}

function tasksOf({ events }: History): Task[] {
  const all = events ?? [];
  const byId = new Map(all.map((event) => [String(event.eventId), event]));
  return all.flatMap((event): Task[] => {
    const done = event.activityTaskCompletedEventAttributes ?? event.workflowTaskCompletedEventAttributes;
    if (!done) return [];
    const scheduled = byId.get(String(done.scheduledEventId));
    const times = {
      scheduled: timeOf(scheduled),
      started: timeOf(byId.get(String(done.startedEventId))),
      completed: timeOf(event),
    };
    return [{ name: scheduled?.activityTaskScheduledEventAttributes?.activityType?.name ?? 'workflow', ...times }];
  });
}

function timeOf(event: Event | undefined): number {
  const { seconds, nanos } = event?.eventTime ?? {};
  return Number(seconds) * 1000 + (nanos ?? 0) / 1e6;
}
