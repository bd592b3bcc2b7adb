import { describe, expect, it, test } from 'vitest';
import { BackfillError } from '../../src/domain/failure.js';
import { isTransient, toBackfillError } from '../../src/postgres/sqlstate.js';
import { CommitUnknown } from '../../src/postgres/transaction.js';

const SECRET = 'S3cr3t-Pa55';
const serverError = (code: string, more: object = {}) =>
  Object.assign(new Error('server says'), { code, severity: 'ERROR', ...more });
const nodeError = (code: string, message = `connect ${code} db.internal:5432`) =>
  Object.assign(new Error(message), { code, syscall: 'connect', errno: -111 });

describe('C26 what passes is retried, what stays wrong is not', () => {
  test.each([
    ['40001', 'serialization failure'],
    ['40P01', 'deadlock'],
    ['55P03', 'lock not available'],
    ['55006', 'object in use'],
    ['57P01', 'admin shutdown'],
    ['57P02', 'crash'],
    ['57P03', 'starting up'],
    ['57014', 'statement timeout'],
    ['08006', 'connection failure'],
    ['08P01', 'protocol violation'],
    ['53100', 'disk full'],
    ['53300', 'too many connections'],
    ['58030', 'io error'],
    ['25P03', 'idle in transaction timeout'],
  ])('%s (%s) passes', (code) => {
    expect(toBackfillError(serverError(code)).info).toEqual({
      type: 'Transient',
      message: `server says (SQLSTATE ${code})`,
      sqlstate: code,
    });
  });

  test.each([
    ['42703', 'undefined column'],
    ['42P01', 'undefined table'],
    ['42601', 'syntax'],
    ['42501', 'no right'],
    ['22012', 'division by zero'],
    ['23505', 'unique'],
    ['23514', 'check'],
    ['25P02', 'transaction is aborted'],
    ['28P01', 'wrong password'],
    ['3D000', 'no such database'],
    ['55000', 'not in this state'],
    ['P0001', 'raise exception'],
    ['XX000', 'internal error'],
    ['BF001', 'our own'],
  ])('%s (%s) stays', (code) => {
    const error = toBackfillError(serverError(code));
    expect(error.info).toMatchObject({ type: 'SqlFailed', sqlstate: code });
    expect(isTransient(error)).toBe(false);
  });

  test.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
  ])('%s of the system passes, and names no host', (code) => {
    const { info } = toBackfillError(nodeError(code));
    expect(info).toEqual({ type: 'Transient', message: `PostgreSQL cannot be reached (${code})` });
  });

  test.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
  ])('the driver\'s "%s" passes', (message) => {
    expect(toBackfillError(new Error(message)).info.type).toBe('Transient');
  });

  it('an AggregateError of several addresses passes', () => {
    const error = Object.assign(new AggregateError([nodeError('ECONNREFUSED')], ''), { code: 'ECONNREFUSED' });
    expect(toBackfillError(error).info).toMatchObject({
      type: 'Transient',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  it('a commit without an answer passes: the next attempt asks the ledger', () => {
    const cause = nodeError('ECONNRESET');
    const error = toBackfillError(new CommitUnknown('The connection was lost while committing', { cause }));
    expect(isTransient(error)).toBe(true);
    expect(error.message).toBe('The connection was lost while committing');
  });

  test.each([[new TypeError('x is not a function')], ['text'], [null], [undefined], [{}]])('%j stays', (thrown) => {
    expect(isTransient(toBackfillError(thrown))).toBe(false);
  });
});

it('a word of the vocabulary stays as it is', () => {
  const known = new BackfillError({ type: 'StrayRows', message: 'outside' });
  expect(toBackfillError(known)).toBe(known);
});

it('a detail is kept, and cut: it may quote a whole row', () => {
  const { info } = toBackfillError(serverError('23505', { detail: 'Key (id)=(1) already exists. '.repeat(100) }));
  expect(info.detail).toMatch(/^Key \(id\)/);
  expect(info.detail).toHaveLength(500);
});

it('C23 an error about a URL does not carry it', () => {
  const url = `postgres://app:${SECRET}@[db/x`;
  let thrown: unknown;
  try {
    new URL(url);
  } catch (error) {
    thrown = error;
  }
  expect(JSON.stringify(toBackfillError(thrown).info)).not.toContain(SECRET);
});
