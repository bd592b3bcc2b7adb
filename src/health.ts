/**
 * Whether the worker is alive and fit for work, and its metrics, by HTTP on one port. Metrics come from the native core,
 * which serves its own and ours on a port of its own: they are passed on.
 */
import { type IncomingMessage, type Server, type ServerResponse, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from './config/errors.js';

/** What must hold for the worker to be fit for work, by name. A check answers `ok`, or what is wrong; or it throws. */
export type Checks = Readonly<Record<string, () => Promise<string>>>;

export interface HealthOptions {
  readonly host: string;
  readonly port: number;
  readonly metricsUrl: string;
  /** Asked anew each time: there are more of them once the worker is up. */
  readonly checks: () => Checks;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

const CHECK_MS = 2000;

/** @throws {ConfigError} the port is taken, or is not ours to take */
export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => void answer(request, response, options));
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, { host, port }: HealthOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${error.code})`;
      const remedy = 'name another in BACKFILL_HTTP, or leave it unset to serve no metrics';
      reject(new ConfigError(`Port ${port} of ${host} ${why}; ${remedy}`, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}

async function answer(request: IncomingMessage, response: ServerResponse, options: HealthOptions): Promise<void> {
  const path = request.url?.split('?')[0] ?? '';
  if (request.method !== 'GET' && request.method !== 'HEAD') return sendJson(response, 405, { error: 'Only GET' });
  switch (path) {
    case '/healthz':
      // That this is answered is the news: the event loop turns.
      return sendJson(response, 200, { process: 'ok' });
    case '/readyz': {
      const found = await runChecks(options.checks());
      const isReady = Object.values(found).every((result) => result === 'ok');
      return sendJson(response, isReady ? 200 : 503, found);
    }
    case '/metrics':
      return passOn(options.metricsUrl, response);
    default:
      return sendJson(response, 404, { error: 'There are /healthz, /readyz and /metrics' });
  }
}

async function runChecks(checks: Checks): Promise<Record<string, string>> {
  const results = Object.entries(checks).map(async ([name, check]) => [name, await inTime(check)] as const);
  return Object.fromEntries(await Promise.all(results));
}

async function inTime(check: () => Promise<string>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${CHECK_MS / 1000} s`), CHECK_MS);
  });
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}

function passOn(url: string, response: ServerResponse): void {
  const upstream = get(url, (metrics) => {
    response.writeHead(metrics.statusCode ?? 502, { 'content-type': metrics.headers['content-type'] ?? 'text/plain' });
    metrics.pipe(response);
  });
  upstream.setTimeout(5000, () => upstream.destroy(new Error('no answer')));
  upstream.on('error', () => {
    if (response.headersSent) response.destroy();
    else sendJson(response, 503, { error: 'The metrics are not there' });
  });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}
