import { expect, test } from 'vitest';
import { unqualifiedNames } from '../support/unqualified.js';

test.each([
  ['select from t where day >= $1', ['>=']],
  ['select from t where day operator(pg_catalog.>=) $1::date', ['::date']],
  ['select num_nulls(a) from t', ['num_nulls']],
  [`select 'a' || b`, ['||']],
  ['select from t where a in ($1)', ['in']],
  ['select from t where a is distinct from b', ['distinct from']],
  ['select nullif(a, b)', ['nullif']],
  ['select case a when b then c end', ['case ']],
])('%s can be led astray', (statement, found) => {
  expect(unqualifiedNames(statement)).toEqual(found);
});

test.each([
  'select * from (select pg_catalog.count(*) as n from "a = b"."c") as x (n) where (n operator(pg_catalog.>) 1) is not true',
  `select coalesce(a::pg_catalog.text, '= > ||') from t group by a having exists (select from u)`,
  'update t set a = $1, b = pg_catalog.now() where key operator(pg_catalog.=) $2',
])('%s cannot', (statement) => {
  expect(unqualifiedNames(statement)).toEqual([]);
});
