import { expect, test } from 'vitest';
import { type RequestCore, canonicalRequest } from '../../src/domain/canonical-request.js';

const plain = { table: 'mart.daily_revenue', from: '2026-03-01', to: '2026-03-14' };

test.each<Partial<RequestCore>>([
  { from: '2026-03-02' },
  { to: '2026-03-13' },
  { select: 'missing' },
  { exclude: ['2026-03-05'] },
  { concurrency: 2 },
  { publish: 'any-order' },
  { onFailure: 'continue' },
  { allowIncomplete: true },
])('a request with %j asks for something else', (change) => {
  expect(canonicalRequest({ ...plain, ...change })).not.toBe(canonicalRequest(plain));
});
