import { expect, it } from 'vitest';
import { BackfillError, FailureType, InvalidRequest } from '../../src/domain/failure.js';
import { exitCodes } from '../../src/domain/outcome.js';

it('a type of failure is the word that people see', () => {
  for (const [name, word] of Object.entries(FailureType)) expect(word).toBe(name);
});

it('an error has the name, the words and the facts of its failure, and keeps its cause', () => {
  const cause = new Error('driver');
  const info = { type: FailureType.SqlFailed, message: 'no such column', sqlstate: '42703' };
  const error = new BackfillError(info, { cause });
  expect(error).toMatchObject({ name: 'SqlFailed', message: 'no such column', info, cause });
  expect(error).toBeInstanceOf(Error);
  expect(new InvalidRequest('why', { cause })).toMatchObject({
    name: 'InvalidRequest',
    info: { type: 'InvalidRequest', message: 'why' },
    cause,
  });
});

it('each way to end has the exit code of the table in the design', () => {
  expect(exitCodes).toEqual({ completed: 0, failed: 1, refused: 2, cancelled: 3 });
});
