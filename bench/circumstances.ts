import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import type { Circumstances } from './report.js';
import { type Servers, withClient } from './servers.js';

export async function readCircumstances(servers: Servers, temporalCli: string): Promise<Circumstances> {
  const database = await servers.createDatabase();
  try {
    const { rows } = await withClient(database.url, (db) =>
      db.query<{ version: string }>(`select current_setting('server_version') as version`),
    );
    const [cpu] = cpus();
    const temporal = run(temporalCli, '--version').replace(/^temporal version /, 'Temporal CLI ');
    const cores = `${cpus().length} × ${cpu?.model ?? 'unknown processor'}`;
    return {
      date: new Date().toISOString().slice(0, 10),
      commit: commitOf(),
      machine: `Last on ${process.platform}, ${cores}, ${Math.round(totalmem() / 2 ** 30)} GiB; PostgreSQL ${rows[0]?.version}, ${temporal}, Node ${process.versions.node}.`,
    };
  } finally {
    await database.drop();
  }
}

/** Of a tree that differs from it: with a plus. */
function commitOf(): string {
  const changed = run('git', 'status', '--porcelain', '--', 'src', 'sql') !== '';
  return `${run('git', 'rev-parse', '--short', 'HEAD') || 'no git'}${changed ? '+' : ''}`;
}

function run(program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}
