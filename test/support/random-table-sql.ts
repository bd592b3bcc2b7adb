import { type RandomRow, type RandomTable, columns } from './random-table.js';

/** The keys of a table's range, and instants as SQL: where each begins, with a neighbour on both sides. */
export function cutOf({ grain, zone, first, count }: RandomTable): {
  readonly keys: readonly string[];
  readonly bounds: readonly string[];
} {
  const numbers = Array.from({ length: count + 3 }, (_, i) => first - 1 + i);
  const cuts = numbers.map((n) => {
    const iso = (date: number) => new Date(date).toISOString();
    const at = (date: number) => `(timestamp '${iso(date).slice(0, 10)}' at time zone '${zone}')`;
    const month = Date.UTC(2024, 1 + n, 1);
    switch (grain) {
      case 'hour': {
        const text = iso(Date.UTC(2024, 2, 10, 5 + n));
        return { key: `${text.slice(0, 13)}Z`, bound: `timestamptz '${text}'` };
      }
      case 'day':
        return { key: iso(Date.UTC(2024, 2, 8 + n)).slice(0, 10), bound: at(Date.UTC(2024, 2, 8 + n)) };
      case 'week':
        return { key: `2024-W${String(10 + n).padStart(2, '0')}`, bound: at(Date.UTC(2024, 2, 4 + 7 * n)) };
      case 'month':
        return { key: iso(month).slice(0, 7), bound: at(month) };
      default:
        return grain satisfies never;
    }
  });
  return { keys: cuts.slice(1, 1 + count).map(({ key }) => key), bounds: cuts.map(({ bound }) => bound) };
}

/** The range as a condition on the table's column. */
export function insideOf(table: RandomTable): string {
  const { bounds } = cutOf(table);
  return `at >= ${valueAt(table, bounds[1] ?? '')} and at < ${valueAt(table, bounds[table.count + 1] ?? '')}`;
}

function valueAt({ column, zone }: RandomTable, instant: string): string {
  const { type, value } = columns[column];
  return `(${value(zone, instant)})::${type}`;
}

/** Makes the table with its old rows, the source beside it with the new ones, and a copy of the old state. */
export function createText(name: string, table: RandomTable): string {
  const payload = table.payload.map((type, i) => `c${i} ${type}`);
  const { by, parts } = partsOf(name, table);
  const key = { none: '', primary: ', primary key (id, at, bucket)', unique: '' }[table.key];
  const from = (which: 'old' | 'new') =>
    table.rows.flatMap((row, i) =>
      row.is === (which === 'old' ? 'new' : 'old') ? [] : rowsText(table, row, { i, isNew: which === 'new' }),
    );
  const insert = (into: string, rows: readonly string[]) =>
    rows.length === 0 ? '' : `insert into ${into} values ${rows.join(',\n')};`;
  return `
    create table ${name} (at ${columns[table.column].type} not null, bucket int not null, id ${table.id} not null,
                          ${payload.join(', ')}${key}) ${by};
    ${parts.join(';\n')};
    ${table.key === 'unique' ? `create unique index on ${name} (at, bucket, id);` : ''}
    ${table.layout === 'indexed' ? `create index on ${name} (at);` : ''}
    create table ${name}_src (like ${name});
    ${insert(name, from('old'))}
    ${insert(`${name}_src`, from('new'))}
    create table ${name}_old as select *, xmin::text as version from ${name};
    analyze ${name};`;
}

function rowsText(table: RandomTable, row: RandomRow, { i, isNew }: { i: number; isNew: boolean }): string[] {
  const { bounds } = cutOf(table);
  const edge = bounds[row.edge === 'lower' ? 1 : table.count + 1] ?? '';
  const at = valueAt(table, `${edge} + interval '${row.microseconds} microseconds'`);
  const values = row.values[isNew && row.is === 'changed' ? 1 : 0];
  const zeros = '0'.repeat(row.zeros[isNew && row.is === 'changed' ? 1 : 0]);
  const id = {
    bigint: String(i),
    numeric: `${i}.${zeros || '0'}`,
    text: `'id ${i}'`,
    uuid: `'${String(i).padStart(8, '0')}-0000-0000-0000-000000000000'`,
  }[table.id];
  const text = `(${[at, i % 3, id, ...values].join(', ')})`;
  return Array.from({ length: table.key === 'none' ? row.copies : 1 }, () => text);
}

function partsOf(name: string, table: RandomTable): { readonly by: string; readonly parts: readonly string[] } {
  const { bounds } = cutOf(table);
  const values = bounds.map((bound) => valueAt(table, bound));
  let n = 0;
  const part = (from: string, to: string, more = '') =>
    `create table ${name}_p${n++} partition of ${name} for values from (${from}) to (${to}) ${more}`;
  const rest = `create table ${name}_rest partition of ${name} default`;
  const each = (of: readonly string[], more = '') => of.slice(1).map((to, i) => part(of[i] ?? '', to, more));
  const range = (parts: readonly string[]) => ({ by: 'partition by range (at)', parts });
  switch (table.layout) {
    case 'exact':
      return range(each(['minvalue', ...values.slice(1, -1), 'maxvalue']));
    case 'holes':
      return range([...each(values).filter((_, i) => i === 0 || !table.missing[i - 1]), rest]);
    case 'default':
      return range([rest]);
    case 'larger':
      return range(each(['minvalue', values[1] ?? '', values.at(-2) ?? '', 'maxvalue']));
    case 'smaller':
      return range([...each(halves(table, bounds).map((bound) => valueAt(table, bound))), rest]);
    case 'sub': {
      const parts = each(['minvalue', ...values.slice(1, -1), 'maxvalue'], 'partition by hash (id)');
      const leaves = parts.flatMap((_, i) =>
        [0, 1].map(
          (r) =>
            `create table ${name}_p${i}_${r} partition of ${name}_p${i} for values with (modulus 2, remainder ${r})`,
        ),
      );
      return range([...parts, ...leaves]);
    }
    case 'hash': {
      const part = (r: number) =>
        `create table ${name}_${r} partition of ${name} for values with (modulus 2, remainder ${r})`;
      return { by: 'partition by hash (id)', parts: [part(0), part(1)] };
    }
    case 'list':
      return {
        by: 'partition by list (bucket)',
        parts: [`create table ${name}_l partition of ${name} for values in (0, 1)`, rest],
      };
    case 'plain':
    case 'indexed':
      return { by: '', parts: [] };
    default:
      return table.layout satisfies never;
  }
}

/** Each bound, and one between it and the next, where a bound may lie. */
function halves({ grain, column }: RandomTable, bounds: readonly string[]): string[] {
  const isWhole = column === 'date' || column.endsWith('yyyymmdd');
  if (grain === 'hour' || (grain === 'day' && isWhole)) return [...bounds];
  const step = grain === 'day' ? '12 hours' : '72 hours';
  return bounds.flatMap((bound, i) => (i === bounds.length - 1 ? [bound] : [bound, `(${bound} + interval '${step}')`]));
}
