import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

/** What a process prints that has this time zone. */
async function printedIn(TZ: string): Promise<{ processZone: string; listed: unknown[] }> {
  const jiti = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url));
  const script = fileURLToPath(new URL('../support/print-partitions.ts', import.meta.url));
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
