import { describe, expect, it, test } from 'vitest';
import { parseRequest } from '../../src/config/request.js';
import { InvalidRequest } from '../../src/domain/failure.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-05' };
const PLAN = '0f8fad5b-d9cb-469f-a165-70867728950e';

describe('a request', () => {
  it('gets its defaults', () => {
    expect(parseRequest(request)).toEqual({
      ...request,
      select: 'all',
      widen: false,
      exclude: [],
      concurrency: 1,
      publish: 'in-order',
      onFailure: 'stop',
      allowIncomplete: false,
      allowDefinitionChange: false,
      onOverlap: 'refuse',
      reason: null,
      requestedBy: null,
    });
  });

  it('keeps what it says', () => {
    const full = {
      ...request,
      widen: true,
      select: 'outdated',
      exclude: ['2024-03-02'],
      concurrency: 4,
      publish: 'any-order',
      onFailure: 'continue',
      allowIncomplete: true,
      allowDefinitionChange: true,
      onOverlap: 'wait',
      reason: 'a fix',
      requestedBy: 'ada',
    };
    expect(parseRequest(full)).toEqual(full);
  });

  it('has no plan where the field is null or undefined', () => {
    for (const plan of [null, undefined]) expect(parseRequest({ ...request, plan })).toEqual(parseRequest(request));
    expect(() => parseRequest({ plan: null })).toThrow(/request\.table is missing/);
  });

  it('may be for a stored plan', () => {
    const nobody = { reason: null, requestedBy: null };
    expect(parseRequest({ plan: PLAN })).toEqual({ plan: PLAN, replan: false, onOverlap: 'refuse', ...nobody });
    expect(parseRequest({ plan: PLAN, replan: true, reason: 'again' })).toMatchObject({
      replan: true,
      reason: 'again',
    });
  });
});

it('may be for an undo', () => {
  const nobody = { onOverlap: 'refuse', reason: null, requestedBy: null };
  expect(parseRequest({ undo: PLAN })).toEqual({ undo: PLAN, from: null, to: null, ...nobody });
  expect(parseRequest({ undo: PLAN, from: '2024-03-01', to: null })).toMatchObject({ from: '2024-03-01', to: null });
  expect(parseRequest({ ...request, undo: null, plan: null })).toEqual(parseRequest(request));
});

test.each<[unknown, RegExp]>([
  [{}, /request\.table is missing.*\n.*request\.from is missing/],
  ['x', /^The request is "x": expected an object such as \{"table"/],
  [null, /^The request is null/],
  [undefined, /^The request is missing/],
  [[request], /^The request is \[/],
  [{ ...request, tabel: 'fact' }, /request\.tabel is "fact": /],
  [{ ...request, from: 20240301 }, /request\.from is 20240301: /],
  [{ ...request, from: null }, /request\.from is null: /],
  [{ ...request, table: '' }, /request\.table is "": /],
  [{ ...request, select: 'some' }, /request\.select is "some": .*missing-or-empty/],
  [{ ...request, concurrency: 0 }, /request\.concurrency is 0: /],
  [{ ...request, concurrency: 101 }, /request\.concurrency is 101: /],
  [{ ...request, concurrency: 1.5 }, /request\.concurrency is 1\.5: /],
  [{ ...request, concurrency: '2' }, /request\.concurrency is "2": /],
  [{ ...request, exclude: ['2024-03-01', 7] }, /request\.exclude\[1\] is 7: /],
  [{ ...request, reason: 'x'.repeat(2001) }, /request\.reason is "x+…: /],
  [{ plan: 'no id' }, /request\.plan is "no id": expected the id of a stored plan/],
  [{ plan: PLAN, table: 'fact' }, /request\.table is "fact": /],
  [{ undo: 'x' }, /request\.undo is "x": expected the id of the plan/],
  [{ undo: PLAN, table: 'fact' }, /request\.table is "fact": /],
  [{ undo: PLAN, plan: PLAN }, /request\.undo is /],
  [{ undo: PLAN, concurrency: 4 }, /request\.concurrency is 4: /],
  [{ plan: PLAN, replan: 'yes' }, /request\.replan is "yes": /],
])('C26 %j is refused by field and value', (input, message) => {
  expect(() => parseRequest(input)).toThrow(InvalidRequest);
  expect(() => parseRequest(input)).toThrow(message);
});

test('more than one at a time, and going on after a failure, need any-order', () => {
  expect(() => parseRequest({ ...request, concurrency: 2 })).toThrow(/concurrency is 2 .*"publish": "any-order"/);
  expect(() => parseRequest({ ...request, onFailure: 'continue' })).toThrow(/onFailure is "continue".*"any-order"/);
  expect(parseRequest({ ...request, concurrency: 2, publish: 'any-order' })).toMatchObject({ concurrency: 2 });
});

test('a long value is cut in a message', () => {
  const long = { ...request, select: 'x'.repeat(5000) };
  expect(() => parseRequest(long)).toThrow(/^request\.select is "x{76}…: .{1,200}$/);
});
