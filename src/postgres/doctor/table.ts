import type { Definition } from '../../domain/definition.js';
import { type Finding, ok, problem, warning } from '../../domain/finding.js';
import { type Partition, partitionHolding } from '../../domain/range.js';
import { quoteIdentifier, quoteTableName } from '../../domain/table-name.js';
import { type TableFacts, readTable } from '../catalog.js';
import type { Tx } from '../database.js';
import { layoutOf } from '../layout.js';
import { lowerAndUpper, readLeaves } from '../leaves.js';
import { missingIndex } from '../survey.js';
import { type Asked, attempt, tryBuild } from '../try-build.js';
import { type MissingGrants, missingGrants } from './grants.js';
import { type ColumnType, type SqlText, castOf } from '../../domain/sql-template.js';

export interface TableQuestion {
  readonly definition: Definition;
  readonly now: Date;
  /** First and last partition of a range, both included; null for the whole table. */
  readonly range: { readonly first: Partition; readonly last: Partition } | null;
}

/** What stands in the way of backfills of one table. One finding says that nothing does. */
export async function examineTable(asked: Asked, question: TableQuestion): Promise<Finding[]> {
  const { tx } = asked;
  const { definition } = question;
  const layout = layoutOf(definition, await readTable(tx, definition.table));
  if (typeof layout === 'string') {
    const remedy = 'Create the table so, or repair its definition (name, partitionBy).';
    return [problem(definition.name, layout, remedy)];
  }
  const { facts, columnType } = layout;
  const grants = await missingGrants(asked, definition);
  const findings = [
    ...aboutGrants(definition, grants),
    ...(await examineBuild(asked, question, { facts, columnType, grants })),
    ...(layout.isCutByColumn
      ? await examineDefault(tx, question, { facts, columnType })
      : await examineIndex(tx, definition, facts)),
  ];
  return findings.length > 0 ? findings : [ok(definition.name, 'Can be read, built and written')];
}

/** In partitions of the definition's own, a key's rows are all there is. */
async function examineIndex(tx: Tx, definition: Definition, facts: TableFacts): Promise<Finding[]> {
  const index = await missingIndex(tx, definition, facts);
  if (index === null) return [];
  const found = `No index begins with ${quoteIdentifier(definition.partitioning.column)}: each key reads the whole table`;
  return [warning(definition.name, found, 'Run this as the owner of the table.', [`${index};`])];
}

const mayKeep = "Run this as the owner of the ledger, or set keepReplaced: '0' in the definition.";

function aboutGrants({ name }: Definition, { write, create, keep }: MissingGrants): Finding[] {
  return [
    ...(keep.length > 0 ? [problem(name, 'The worker may not keep what it replaces, for an undo', mayKeep, keep)] : []),
    ...(write.length > 0
      ? [problem(name, 'The worker may not replace its rows', 'Run this as the owner of the table.', write)]
      : []),
    ...(create.length > 0
      ? [warning(name, 'The worker may not create its partitions', 'Run this, or create partitions yourself.', create)]
      : []),
  ];
}

interface Known {
  readonly facts: TableFacts;
  readonly columnType: ColumnType;
}

/** PostgreSQL itself says whether the build may run: it is planned, with its rights, and not run. */
async function examineBuild(
  asked: Asked,
  { definition, now }: TableQuestion,
  { facts, columnType, grants }: Known & { readonly grants: MissingGrants },
): Promise<Finding[]> {
  const partition = partitionHolding(definition.partitioning, now.toISOString());
  if (!partition) return [];
  const { problems } = await tryBuild(asked, definition, facts, columnType, [partition]);
  return problems.flatMap((found) => {
    const mayNot = found.endsWith('(SQLSTATE 42501)');
    // The right to write was looked for already.
    if (mayNot && grants.write.length > 0 && found.startsWith('The build cannot be inserted')) return [];
    return mayNot
      ? problem(definition.name, found, 'Let the worker read what the build reads.', grants.read)
      : problem(definition.name, found, 'Repair the definition, or the table.');
  });
}

/** Rows in the default partition: creating their own partition moves them, and holds up readers of the default one. */
async function examineDefault(tx: Tx, { definition, range }: TableQuestion, known: Known): Promise<Finding[]> {
  const { defaultName } = await readLeaves(tx, known.facts.oid, known.columnType);
  if (defaultName === null) return [];
  const { text, values } = rowsOfDefault(definition, { defaultName, columnType: known.columnType, range });
  const answer = await attempt(tx, () => tx.query<{ found: boolean }>(`select exists (${text}) as found`, values));
  // Who may not look there is told by the missing rights.
  if (typeof answer === 'string' || !answer.rows[0]?.found) return [];
  const where = range ? `rows of ${range.first.key} to ${range.last.key}` : 'rows';
  const remedy = 'Backfills move them; to make readers wait less, move them yourself before.';
  return [warning(definition.name, `Its default partition ${defaultName} holds ${where}`, remedy)];
}

interface DefaultRows extends Pick<TableQuestion, 'range'> {
  readonly defaultName: string;
  readonly columnType: ColumnType;
}

/** Of a range through the table itself, on which alone there may be rights; of all without reading the whole table. */
function rowsOfDefault({ table, partitioning }: Definition, { defaultName, columnType, range }: DefaultRows): SqlText {
  if (!range) return { text: `select from ${defaultName}`, values: [] };
  const column = quoteIdentifier(partitioning.column);
  const type = castOf(columnType);
  return {
    text: `select from ${quoteTableName(table)} t
            where t.tableoid = $1::pg_catalog.regclass and t.${column} >= $2::${type} and t.${column} < $3::${type}`,
    values: [defaultName, lowerAndUpper(range.first, columnType).lower, lowerAndUpper(range.last, columnType).upper],
  };
}
