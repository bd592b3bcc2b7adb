import { defineTable, sql } from '../../src/config/define.js';
import type { TestDatabase } from './database.js';
import type { TableInput } from './harness.js';

/** A table whose names all need quoting, of which one day has no partition and no source rows yet. */
export const ORDERS = `
create schema "Sales Ops";
create table "Sales Ops"."Order" ("Day" date not null, "select" int, "naïve""q" text) partition by range ("Day");
create table "Sales Ops"."Order_p1" partition of "Sales Ops"."Order" for values from ('2024-03-05') to ('2024-03-06');
insert into "Sales Ops"."Order" values ('2024-03-05', 0, 'old');
create table "Sales Ops"."New; Order" as select "Day", "select", 'new' as "naïve""q" from "Sales Ops"."Order";`;

export const ORDER_NAME = '"Sales Ops"."Order"';

export function orderTable(): TableInput {
  return defineTable({
    name: ORDER_NAME,
    partitionBy: { column: 'Day', grain: 'day', timeZone: 'UTC' },
    reads: ['"Sales Ops"."New; Order"'],
    build: ({ startDate, endDate }) =>
      sql`select "Day", "select", "naïve""q" from "Sales Ops"."New; Order" where "Day" >= ${startDate} and "Day" < ${endDate}`,
  });
}

/** What the second day lacks. */
export async function completeSource(db: TestDatabase): Promise<void> {
  await db.query(`insert into "Sales Ops"."New; Order" values ('2024-03-06', 1, 'it''s "new"')`);
}

export async function readOrders(db: TestDatabase): Promise<unknown[]> {
  const { rows } = await db.query(`select "Day" as day, "naïve""q" as text from "Sales Ops"."Order" order by 1`);
  return rows;
}
