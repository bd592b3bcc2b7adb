import { expect, test } from 'vitest';
import { checkTable } from '../../examples/flights/check.js';
import type { Counts } from '../../examples/flights/counts.js';
import type { Facts } from '../../examples/flights/facts.js';

const facts: Facts = {
  table: 'mart.daily_flights',
  timeZone: 'America/New_York',
  from: '2013-01-01',
  to: '2013-01-02',
  partitions: 2,
  flights: 1785,
  flightsOn: { '2013-01-01': 842 },
};
const days = new Map([
  ['2013-01-01', 842],
  ['2013-01-02', 943],
]);
const right: Counts = {
  byPartition: new Map([
    ['p1', 842],
    ['p2', 943],
  ]),
  byDay: days,
  bySourceDay: days,
};

test('what is as it must be is ok', () => {
  const { isRight, text } = checkTable(facts, right);
  expect(isRight).toBe(true);
  expect(text).not.toContain('NOT OK');
});

const oneMissing = new Map([['2013-01-01', 842]]);
const oneMoved = new Map([
  ['2013-01-01', 841],
  ['2013-01-02', 944],
]);

test.each<{ wrong: string; counts: Partial<Counts>; figures: string[] }>([
  { wrong: 'a partition is missing', counts: { byPartition: new Map([['p1', 1785]]) }, figures: ['partitions'] },
  {
    wrong: 'a partition is empty',
    counts: {
      byPartition: new Map([
        ['p1', 1785],
        ['p2', 0],
      ]),
    },
    figures: ['partitions without flights'],
  },
  {
    wrong: 'a day is missing',
    counts: { byDay: oneMissing },
    figures: ['flights', 'days unlike a count of the source'],
  },
  {
    wrong: 'a flight is on the day before its own',
    counts: { byDay: oneMoved },
    figures: ['flights on 2013-01-01', 'days unlike a count of the source'],
  },
  {
    wrong: 'the source is not that of the facts',
    counts: { byDay: oneMoved, bySourceDay: oneMoved },
    figures: ['flights on 2013-01-01'],
  },
  {
    wrong: 'nothing is there',
    counts: { byPartition: new Map(), byDay: new Map(), bySourceDay: new Map() },
    figures: ['partitions', 'flights', 'flights on 2013-01-01'],
  },
])('not ok where $wrong', ({ counts, figures }) => {
  const { isRight, text } = checkTable(facts, { ...right, ...counts });
  expect(isRight).toBe(false);
  const wrong = text.split('\n').filter((line) => line.endsWith('NOT OK'));
  expect(wrong.map((line) => line.trim().split(/ {2,}/)[0])).toEqual(figures);
});
