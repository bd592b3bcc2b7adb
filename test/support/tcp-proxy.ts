import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** A way to PostgreSQL that loses one commit, or its answer, when told to. */
export interface CommitCutter {
  /** The same database by way of the proxy. */
  readonly url: string;
  /**
   * Cuts the connection at the next commit of a replacement: on its way (`before`: the server never gets it), or after
   * the server has answered it (`after`: the client never gets that).
   */
  cutNext(where: 'before' | 'after'): void;
  /** How many it has cut. */
  readonly cuts: number;
  close(): Promise<void>;
}

/** `commit` as the simple query that it must be: `Q`, the length of what follows, the text, a zero byte. */
const COMMIT = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1');

const BEGIN = 'begin isolation level';
/** Names the session of a replacement, in the message that begins its transaction. */
const REPLACEMENT = "application_name = 'bf:";

export async function startCommitCutter(databaseUrl: string): Promise<CommitCutter> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let armed: 'before' | 'after' | undefined;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isReplacement = false;
    let isCutting = false;
    const cut = () => {
      cuts++;
      for (const socket of [client, upstream]) socket.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        for (const other of [client, upstream]) other.destroy();
      });
    }
    client.on('data', (data) => {
      // A pooled connection serves others, too.
      if (data.includes(BEGIN)) isReplacement = data.includes(REPLACEMENT);
      const where = isReplacement && data.includes(COMMIT) ? armed : undefined;
      if (where !== undefined) armed = undefined;
      if (where === 'before') return cut();
      isCutting = where === 'after';
      upstream.write(data);
    });
    upstream.on('data', (data) => (isCutting ? cut() : client.write(data)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cutNext: (where) => (armed = where),
    get cuts() {
      return cuts;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
