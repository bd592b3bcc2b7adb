import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRequest } from '../../src/config/request.js';
import { type RequestCore, canonicalRequest } from '../../src/domain/canonical-request.js';
import { selections } from '../../src/domain/request.js';

const plain = { table: 'mart.daily_revenue', from: '2026-03-01', to: '2026-03-14' };

describe('the canonical request', () => {
  it('is the same for a request and for that with its defaults written out', () => {
    const full = {
      ...plain,
      select: 'all',
      exclude: [],
      concurrency: 1,
      publish: 'in-order',
      onFailure: 'stop',
      allowDefinitionChange: false,
      allowIncomplete: false,
    } as const;
    expect(canonicalRequest(plain)).toBe(canonicalRequest(full));
    expect(canonicalRequest(parseRequest(plain) as RequestCore)).toBe(canonicalRequest(plain));
  });

  it('does not look at who asks, nor why', () => {
    const asked = { ...plain, reason: 'bug', requestedBy: 'ada' };
    expect(canonicalRequest(asked)).toBe(canonicalRequest(plain));
  });

  it('knows one table by every spelling, and two tables apart', () => {
    expect(canonicalRequest({ ...plain, table: 'MART."daily_revenue"' })).toBe(canonicalRequest(plain));
    expect(canonicalRequest({ ...plain, table: 'mart."Daily_Revenue"' })).not.toBe(canonicalRequest(plain));
    expect(canonicalRequest({ ...plain, table: 'not a table' })).toContain('not a table');
  });

  it('takes the excluded keys as a set', () => {
    const once = canonicalRequest({ ...plain, exclude: ['2026-03-02', '2026-03-05'] });
    expect(canonicalRequest({ ...plain, exclude: ['2026-03-05', '2026-03-02', '2026-03-05'] })).toBe(once);
    expect(once).not.toBe(canonicalRequest(plain));
  });

  it('has its fields in alphabetical order', () => {
    const names = Object.keys(JSON.parse(canonicalRequest(plain)) as object);
    expect(names).toEqual([...names].sort());
  });

  it('is its own canonical request, and does not depend on the order of fields', () => {
    const requests = fc.record(
      {
        table: fc.constantFrom('a.b', 'A.B', '"x y".z'),
        from: fc.string(),
        to: fc.string(),
        select: fc.constantFrom(...selections),
        exclude: fc.array(fc.string()),
        concurrency: fc.integer({ min: 1, max: 100 }),
        allowIncomplete: fc.boolean(),
      },
      { requiredKeys: ['table', 'from', 'to'] },
    );
    fc.assert(
      fc.property(requests, (request) => {
        const text = canonicalRequest(request);
        const turned = Object.fromEntries(Object.entries(request).reverse()) as unknown as RequestCore;
        expect(canonicalRequest(turned)).toBe(text);
        expect(canonicalRequest(JSON.parse(text) as RequestCore)).toBe(text);
      }),
    );
  });
});
