/** `npm run bench`: measures runs against the plain loop. See README.md beside it. */
import { fileURLToPath } from 'node:url';
import { waitForEnd } from '../src/dev/end-signals.js';
import { readCircumstances } from './circumstances.js';
import { type Measurement, measureScenario } from './measure.js';
import { parseOptions } from './options.js';
import { rowOf, writeTable } from './report.js';
import { type OwnServers, startServers } from './servers.js';

const README = fileURLToPath(new URL('README.md', import.meta.url));

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const end = waitForEnd();
  const servers = await startServers(console.error);
  try {
    // Told to end, what runs is left alone: with the servers gone it fails, and nobody waits for it.
    const work = measureAll(servers, options);
    const isOver = await Promise.race([work.then(() => true), end.first]);
    if (!isOver) work.catch(() => {});
  } finally {
    await servers.stop();
  }
  process.exit();
}

async function measureAll(
  servers: OwnServers,
  { scenarios, write, ...options }: ReturnType<typeof parseOptions>,
): Promise<void> {
  const circumstances = await readCircumstances(servers, servers.temporalCli);
  for (const scenario of scenarios) {
    const measured = await measureScenario(servers, scenario, { ...options, log: console.error });
    const rows = measured.map((one) => rowOf(one, circumstances));
    for (const row of rows) console.log(row.join(' | '));
    for (const one of measured) printProfile(one);
    // After each scenario, so that an end halfway loses no more than one.
    if (write) writeTable(README, rows, circumstances);
  }
}

function printProfile({ scenario, concurrency, profile }: Measurement): void {
  if (!profile) return;
  console.log(`\n${scenario.name} at ${concurrency}, the last round, in ms:`);
  for (const [what, ms] of profile) console.log(`${ms.toFixed(2).padStart(10)}  ${what}`);
}
