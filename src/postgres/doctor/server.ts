import { type Finding, ok, problem, warning } from '../../domain/finding.js';
import { utcOffsetSeconds } from '../../domain/range.js';
import type { Database, Tx } from '../database.js';

const OLDEST_VERSION = 150_000;

export interface ServerQuestion {
  readonly database: Database;
  /** Worker processes that share the database; null where it is not known. */
  readonly workers: number | null;
  /** Of the definitions. */
  readonly timeZones: readonly string[];
}

/** What the worker needs of the server itself, whatever the tables. */
export async function examineServer(tx: Tx, question: ServerQuestion): Promise<Finding[]> {
  const { noticesLostClients } = question.database;
  return [
    await examineVersion(tx),
    await examineConnections(tx, question),
    noticesLostClients === false ? cannotNotice : ok('lost clients', 'A killed worker is noticed within 2 s'),
    ...(await examineTimeZones(tx, question.timeZones)),
  ];
}

const cannotNotice = warning(
  'lost clients',
  "The server's system cannot tell when a client is gone (client_connection_check_interval)",
  'Nothing breaks: the query of a killed worker runs to its end, and then is rolled back.',
);

async function examineVersion(tx: Tx): Promise<Finding> {
  const { rows } = await tx.query<{ version: string; number: string }>(
    `select pg_catalog.current_setting('server_version') as version,
            pg_catalog.current_setting('server_version_num') as number`,
  );
  const { version = 'unknown', number = '0' } = rows[0] ?? {};
  return Number(number) >= OLDEST_VERSION
    ? ok('PostgreSQL version', `PostgreSQL ${version}`)
    : problem('PostgreSQL version', `PostgreSQL ${version}`, 'Use PostgreSQL 15 or newer.');
}

interface Connections {
  readonly most: number;
  readonly others: number;
}

async function examineConnections(tx: Tx, { database, workers }: ServerQuestion): Promise<Finding> {
  const { most, others } = await readConnections(tx);
  // One more each, to stop queries with.
  const each = (database.pool.options.max ?? 10) + 1;
  const wanted = each * (workers ?? 1);
  const found = `${wanted} for ${workers ?? 1} worker(s) of ${each}; ${most} to be had, ${others} used by others`;
  if (wanted > most) {
    return problem(
      'connections',
      found,
      'Raise max_connections or the limit of the role, or lower BACKFILL_POOL_SIZE.',
    );
  }
  return wanted + others <= most
    ? ok('connections', found)
    : warning('connections', found, 'Lower BACKFILL_POOL_SIZE, or run fewer workers: some will wait for a connection.');
}

/** Of sessions of other roles we see less: neither what they are nor how they are called. */
async function readConnections(tx: Tx): Promise<Connections> {
  const { rows } = await tx.query<Connections>(
    `select case when r.rolconnlimit >= 0 then least(s.most, r.rolconnlimit) else s.most end as most,
            (select pg_catalog.count(*) from pg_catalog.pg_stat_activity a
              where a.usesysid is not null and coalesce(a.backend_type, 'client backend') = 'client backend'
                and not (a.usesysid = r.oid and coalesce(a.application_name, '') ~ '^(backfill|bf:)'))::integer as others
       from pg_catalog.pg_roles r
      cross join (select pg_catalog.current_setting('max_connections')::integer
                       - pg_catalog.current_setting('superuser_reserved_connections')::integer
                       - coalesce(pg_catalog.current_setting('reserved_connections', true)::integer, 0) as most) s
      where r.rolname = current_user`,
  );
  return rows[0] ?? { most: 0, others: 0 };
}

/** Worker and server each have a time zone database of their own, and a zone's rules change by law. */
async function examineTimeZones(tx: Tx, timeZones: readonly string[]): Promise<Finding[]> {
  const { rows } = await tx.query<{ name: string; seconds: string | null; now: string }>(
    `select wanted as name, extract(epoch from z.utc_offset) as seconds, extract(epoch from pg_catalog.now()) as now
       from pg_catalog.unnest($1::pg_catalog.text[]) wanted
       left join pg_catalog.pg_timezone_names z on pg_catalog.lower(z.name) = pg_catalog.lower(wanted)`,
    [[...new Set(timeZones)]],
  );
  return rows.map(({ name, seconds, now }) => {
    const ours = utcOffsetSeconds(name, Math.round(Number(now) * 1000));
    const found = `${name} is ${ours / 3600} h east of UTC today`;
    if (seconds === null) {
      return warning(
        'time zone',
        `PostgreSQL does not know ${name}`,
        `Do not write "at time zone '${name}'" in a build.`,
      );
    }
    if (Number(seconds) === ours) return ok('time zone', found);
    const remedy = 'Update the time zone data of the older of the two: of PostgreSQL, or of Node.';
    return warning('time zone', `${found} to the worker, ${Number(seconds) / 3600} h to PostgreSQL`, remedy);
  });
}
