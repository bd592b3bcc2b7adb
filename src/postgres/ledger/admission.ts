import pg from 'pg';
import type { KeptForm } from '../../domain/keep.js';
import type { UndoFacts } from '../../domain/undo.js';
import { BackfillError, FailureType } from '../../domain/failure.js';
import type { Replaced } from '../../domain/outcome.js';
import type { Strategy } from '../../domain/strategy.js';
import type { ColumnType } from '../../domain/sql-template.js';
import type { Kept } from './kept.js';
import { changesOf } from './replacements.js';

/** What is kept of the replacement that is undone. */
export interface KeptRows {
  readonly form: KeptForm | null;
  /** Old rows that are to be there, at least. */
  readonly oldRows: number;
}

/** What a replacement needs to know of its run, plan and partition. */
export interface Admission {
  readonly action: 'create' | 'replace';
  readonly strategy: Strategy;
  readonly shape: string;
  readonly definitionDigest: string;
  /** Another definition than the plan's may write, if it cuts the table as the plan does. */
  readonly allowsChange: boolean;
  /** As the plan shows them. */
  readonly grain: string;
  readonly timeZone: string;
  /** Null where an undo puts back what this software has not built. */
  readonly buildDigest: string | null;
  readonly provisional: boolean;
  readonly columnType: ColumnType;
  readonly precision: number | null;
  readonly columns: readonly string[];
  /** The partition of the plan is still one of the table. */
  readonly hasLeaf: boolean;
  /** Something in the database may wait for the commit. */
  readonly hasDeferred: boolean;
  /** The partition's, before this replacement, and as the plan knew it. */
  readonly generation: number;
  readonly generationPlanned: number;
  /** Where the old rows are kept; null for nowhere. */
  readonly kept: Pick<Kept, 'relation' | 'columns'> | null;
  /** The plan puts back what another run replaced; null for all others. */
  readonly undo: (UndoFacts & KeptRows) | null;
  /** What an earlier attempt under this plan committed, if one did. */
  readonly already: Replaced | null;
}

export interface RunIdentity {
  readonly planId: string;
  /** The first Temporal run id of the execution: continue-as-new keeps it, a retry or a takeover has another. */
  readonly executionId: string;
}

export interface Attempt extends RunIdentity {
  readonly key: string;
  /** Its name in pg_stat_activity, by which an earlier one is found. */
  readonly session: string;
  /** Quoted name of the table. */
  readonly relation: string;
  /** By which it is partitioned. */
  readonly column: string;
}

/**
 * The statements that admit an attempt, to travel with the begin of its transaction: one message instead of four, and
 * half a millisecond cheaper than a function, whose plans go whenever a session is emptied. Each sees what was committed
 * while the one before it waited; none does anything where the run is closed. The last one answers.
 */
export function admissionTexts(ledger: string, attempt: Attempt): string[] {
  const [plan, execution, key, session, relation, column] = [
    attempt.planId,
    attempt.executionId,
    attempt.key,
    attempt.session,
    attempt.relation,
    attempt.column,
  ].map((value) => pg.escapeLiteral(value));
  const run = `${ledger}.run r where r.plan_id = ${plan} and r.execution_id = ${execution} and r.state = 'open'`;
  return [
    // Holds the run open until the end of the transaction: closing it waits for us.
    `select from ${run} for share`,
    // An earlier attempt that Temporal has given up on may go on for as long as its SQL takes.
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where application_name = ${session} and pid <> pg_backend_pid() and datname = current_database()
        and exists (select from ${run})`,
    // The lock that every writer of this software takes.
    `insert into ${ledger}.partition (table_name, key) select r.table_name, ${key} from ${run}
      on conflict (table_name, key) do update set key = excluded.key`,
    `select pp.action, l.facts->>'strategy' as strategy, l.shape, l.definition_digest as "definitionDigest",
            coalesce((l.options->>'allowDefinitionChange')::boolean, false) as "allowsChange",
            l.facts->>'grain' as grain, l.facts->>'timeZone' as "timeZone",
            case when l.undoes is null then l.build_digest else u.build_digest_before end as "buildDigest",
            l.column_type as "columnType", l.columns,
            (select nullif(atttypmod, -1) from pg_attribute
              where attrelid = to_regclass(${relation}) and attname = ${column}) as precision,
            case when l.undoes is null then pp.provisional else coalesce(u.provisional_before, false) end as provisional,
            p.generation, pp.generation as "generationPlanned", l.facts->'undo' as undo, u.kept as "undoForm",
            case u.kept when 'rows' then u.rows_before when 'differences' then u.rows_removed + u.rows_changed else 0 end as "undoRows",
            (select jsonb_build_object('relation', k.relation, 'columns', k.columns) from ${ledger}.kept k
              where k.plan_id = r.plan_id and k.dropped_at is null) as kept,
            pp.leaf_oid is null or exists (select from pg_inherits
              where inhparent = to_regclass(${relation}) and inhrelid = pp.leaf_oid and not inhdetachpending) as "hasLeaf",
            exists (select from pg_trigger where tgdeferrable) as "hasDeferred",
            d.rows_before as "doneBefore", d.rows_after as "doneAfter", d.generation as "doneGeneration",
            d.rows_added as "doneAdded", d.rows_removed as "doneRemoved", d.rows_changed as "doneChanged"
       from (select r.plan_id, r.table_name from ${run} for share) r
       join ${ledger}.plan l on l.plan_id = r.plan_id
       join ${ledger}.plan_partition pp on pp.plan_id = r.plan_id and pp.key = ${key} and pp.action <> 'leave'
       join ${ledger}.partition p on p.table_name = r.table_name and p.key = pp.key
       left join ${ledger}.replacement d on d.plan_id = r.plan_id and d.key = pp.key
       left join ${ledger}.replacement u on u.plan_id = l.undoes and u.key = pp.key`,
  ];
}

interface AdmissionRow extends Omit<Admission, 'already' | 'generation' | 'generationPlanned' | 'undo'> {
  readonly generation: string;
  readonly generationPlanned: string;
  readonly undo: UndoFacts | null;
  readonly undoForm: KeptForm | null;
  readonly undoRows: string;
  readonly doneBefore: string | null;
  readonly doneAfter: string | null;
  readonly doneGeneration: string | null;
  readonly doneAdded: string | null;
  readonly doneRemoved: string | null;
  readonly doneChanged: string | null;
}

/**
 * Reads the answer to {@link admissionTexts}.
 * @throws {BackfillError} RunClosed
 */
export function readAdmission(rows: readonly unknown[], { planId, key }: Attempt): Admission {
  const [row] = rows as readonly AdmissionRow[];
  if (!row) {
    throw new BackfillError({
      type: FailureType.RunClosed,
      message: `${key} was not written: the run of plan ${planId} is closed, or goes on in another execution`,
    });
  }
  const {
    doneBefore,
    doneAfter,
    doneGeneration,
    doneAdded,
    doneRemoved,
    doneChanged,
    undoForm,
    undoRows,
    ...admission
  } = row;
  const done = {
    rowsBefore: Number(doneBefore),
    rowsAfter: Number(doneAfter),
    generation: Number(doneGeneration),
    changes: changesOf(doneAdded, doneRemoved, doneChanged, doneAfter),
  };
  const already = doneGeneration === null ? null : ({ key, status: 'already', ...done } as const);
  return {
    ...admission,
    generation: Number(row.generation),
    generationPlanned: Number(row.generationPlanned),
    undo: row.undo && { ...row.undo, form: undoForm, oldRows: Number(undoRows) },
    already,
  };
}
