import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** What a process prints that has this time zone. */
async function printedIn(TZ: string): Promise<{ processZone: string; listed: unknown[] }> {
  const jiti = join(root, 'node_modules/jiti/lib/jiti-cli.mjs');
  const script = join(root, 'test/support/print-partitions.ts');
  const { stdout } = await run(process.execPath, [jiti, script], { env: { ...process.env, TZ } });
  return JSON.parse(stdout) as { processZone: string; listed: unknown[] };
}

test('C22 partitions are the same whatever TZ the process has', async () => {
  const reference = await printedIn('UTC');
  expect(reference.listed).toMatchObject([
    { timeZone: 'America/New_York', partitions: [{}, { key: '2024-03-10', start: '2024-03-10T05:00:00Z' }, {}] },
    ...reference.listed.slice(1).map(() => ({})),
  ]);
  for (const zone of ['America/New_York', 'Europe/Berlin', 'Asia/Tokyo', 'Pacific/Apia', 'America/Havana']) {
    const printed = await printedIn(zone);
    expect(printed.processZone).toBe(zone);
    expect(printed.listed, `TZ=${zone}`).toEqual(reference.listed);
  }
});
