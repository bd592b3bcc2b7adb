import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { newPartitionNames } from '../../src/postgres/new-partition.js';

const first = (table: string, key: string) => newPartitionNames(table, key)[0] ?? '';

/** As the server cuts a name: at 63 bytes, and not within a letter. */
function cutByServer(name: string): string {
  let kept = '';
  for (const letter of name) {
    if (Buffer.byteLength(kept + letter) > 63) break;
    kept += letter;
  }
  return kept;
}

it('a new partition is named by table and key', () => {
  expect(first('fact', '2024-03-05')).toBe('fact_20240305');
});

test('C21 the day stays whole where the name is too long', () => {
  const long = 'this_is_a_really_long_event_fact_table_name_used_in_reports';
  const [third, fourth] = [first(long, '2024-03-03'), first(long, '2024-03-04')];
  expect(third).toMatch(/^this_is_a_really_long_.*_20240303$/);
  expect(Buffer.byteLength(third)).toBeLessThanOrEqual(63);
  expect(third).not.toBe(fourth);
});

test('C21 tables that share their first 55 bytes have other partitions', () => {
  const shared = 'x'.repeat(55);
  expect(first(`${shared}_one`, '2024-03-03')).not.toBe(first(`${shared}_two`, '2024-03-03'));
});

test('C21 names are measured in bytes', () => {
  const name = first(`${'ä'.repeat(31)}x`, '2024-03-03');
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
  expect(name).toMatch(/^ä+_[0-9a-f]{8}_20240303$/);
});

test('C21 whatever the table is called, the server cuts no name, and no two are the same', () => {
  const table = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 63 })
    .filter((name) => !name.includes('\0') && Buffer.byteLength(name) <= 63);
  const day = fc.integer({ min: 0, max: 40_000 }).map((n) => new Date(n * 86_400_000).toISOString().slice(0, 10));
  fc.assert(
    fc.property(table, day, day, (name, one, other) => {
      fc.pre(one !== other);
      const names = [...newPartitionNames(name, one), ...newPartitionNames(name, other)];
      for (const each of names) {
        expect(cutByServer(each)).toBe(each);
        // No half of a letter.
        expect(Buffer.from(each).toString()).toBe(each);
      }
      expect(new Set(names).size).toBe(4);
    }),
    { numRuns: 500 },
  );
});
