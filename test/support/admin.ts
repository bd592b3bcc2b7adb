import pg from 'pg';

/** Runs one statement on a connection of its own. */
export async function runOnce(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** The same server and role, another database. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Also where somebody is still connected. */
export function dropDatabase(adminUrl: string, name: string): Promise<void> {
  return runOnce(adminUrl, `drop database if exists "${name}" with (force)`);
}
