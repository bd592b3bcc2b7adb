import type { Definition } from '../../domain/definition.js';
import { type KeptForm, copyColumns } from '../../domain/keep.js';
import type { BoundMarker, SqlTemplate } from '../../domain/sql-template.js';
import { quoteIdentifier, quoteTableName } from '../../domain/table-name.js';
import type { UndoFacts } from '../../domain/undo.js';
import { quoteColumns } from '../target.js';
import { quoteCopy } from './copy.js';

/**
 * A definition whose rows are those that a run has replaced. What was right then is put back as it was: no checks, and
 * nothing but the way of writing from the definition of today.
 * @param form how the rows of the partition were kept
 */
export function undoDefinition(definition: Definition, undo: UndoFacts, { ledger, form }: UndoForm): Definition {
  const build = undoBuild(definition, undo, { ledger, form });
  return {
    ...definition,
    origin: { kind: 'sql', build, source: null, restores: undo.numbered },
    checks: [],
    whenEmpty: 'empty',
    // It may read the table itself: what of it was not replaced stays as it is.
    cumulative: true,
  };
}

export interface UndoForm {
  readonly ledger: string;
  readonly form: KeptForm;
}

/** The query that gives the rows of a partition as they were, fit to stand where SQL of a definition does. */
function undoBuild(definition: Definition, undo: UndoFacts, { ledger, form }: UndoForm): SqlTemplate {
  const { relation, columns, sameRow } = undo;
  const names = columns.map(({ name }) => name);
  const table = quoteTableName(definition.table);
  if (relation === null) return { strings: [`select ${quoteColumns(names)} from ${table} where false`], params: [] };
  const own = copyColumns(names);
  const from = `${quoteCopy(ledger, relation)} as s where s.${quoteIdentifier(own.key)} operator(pg_catalog.=) `;
  const old = ` and not s.${quoteIdentifier(own.isNew)}`;
  const given = `select ${columns.map(valueOf).join(', ')} from ${from}`;
  if (form === 'rows') return { strings: [given, old], params: [bound('key')] };
  if (!sameRow) throw new Error(`The plan to undo ${undo.planId} does not say which rows are the same`);
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const same = sameRow.columns.map((name, i) => {
    const type = types.get(name);
    return `s.${quoteIdentifier(name)}${type ? `::${type}` : ''} ${sameRow.equals[i]} t.${quoteIdentifier(name)}`;
  });
  const column = `t.${quoteIdentifier(definition.partitioning.column)}`;
  return {
    strings: [
      `select ${quoteColumns(names, 't.')} from ${table} as t where ${column} operator(pg_catalog.>=) `,
      ` and ${column} operator(pg_catalog.<) `,
      ` and not exists (select from ${from}`,
      ` and ${same.join(' and ')}) union all ${given}`,
      old,
    ],
    params: [bound('startValue'), bound('endValue'), bound('key'), bound('key')],
  };
}

function valueOf({ name, type }: UndoFacts['columns'][number]): string {
  const column = quoteIdentifier(name);
  return type === null ? `s.${column}` : `s.${column}::${type} as ${column}`;
}

function bound(backfillBound: BoundMarker['backfillBound']): BoundMarker {
  return { backfillBound };
}
