import { expect, it } from 'vitest';
import { checkQuestion } from '../../src/config/read-request.js';

const before = (committedAt: string) => ({
  what: 'history' as const,
  table: 'mart.t',
  before: { committedAt, key: '2026-03-01', generation: 3 },
});

it.each([
  '2026-03-15 10:00:00.123456+00',
  '2026-03-15 10:00:00+05:30',
  '1880-03-15 10:00:00-00:01:15',
  '2026-03-15T10:00:00.000Z',
])('a history goes on from %s, as PostgreSQL or the history itself has it', (committedAt) => {
  const question = before(committedAt);
  expect(checkQuestion(question)).toBe(question);
});

it.each(['yesterday', '', '2026-03-15', "2026-03-15 10:00:00+00'; --"])('but not from %j', (committedAt) => {
  expect(() => checkQuestion(before(committedAt))).toThrow(/^request\.before\.committedAt is .*: expected a moment$/);
});

it('lets be what only a newer client knows', () => {
  const question = { what: 'tables' as const, after: 3, colour: 'red' };
  expect(checkQuestion(question)).toBe(question);
});
