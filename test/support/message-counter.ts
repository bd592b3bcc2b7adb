import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** What went over the wire. */
export interface Traffic {
  /** Statements that the server has finished, each of a message of several counted. */
  readonly statements: number;
  /** Messages that the client has waited for. */
  readonly roundTrips: number;
}

/** A way to PostgreSQL that counts: one entry a replacement, in the order of their begin. */
export interface MessageCounter {
  /** The same database by way of the proxy. */
  readonly url: string;
  /** Replacements so far, each from its begin to where its session is emptied for the next user. */
  readonly replacements: readonly Traffic[];
  close(): Promise<void>;
}

const BEGIN = 'begin isolation level';
/** Names the session of a replacement, in the message that begins its transaction. */
const REPLACEMENT = "application_name = 'bf:";

type Counts = { -readonly [K in keyof Traffic]: Traffic[K] };

export async function startMessageCounter(databaseUrl: string): Promise<MessageCounter> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const replacements: Counts[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let current: Counts | undefined;
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        for (const other of [client, upstream]) other.destroy();
      });
    }
    client.on('data', (data) => {
      // A pooled connection serves others, too.
      if (data.includes(BEGIN)) {
        current = data.includes(REPLACEMENT) ? { statements: 0, roundTrips: 0 } : undefined;
        if (current) replacements.push(current);
      }
      upstream.write(data);
    });
    const count = messageTypes((type) => {
      if (current && type === 'C') current.statements++;
      if (current && type === 'Z') current.roundTrips++;
    });
    upstream.on('data', (data) => {
      count(data);
      client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    replacements,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Tells the type of each message of a server (`C`: a statement is done, `Z`: ready for the next), however they are cut. */
function messageTypes(onType: (type: string) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (data) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    while (rest.length >= 5) {
      const length = 1 + rest.readUInt32BE(1);
      if (rest.length < length) return;
      onType(String.fromCharCode(rest[0] ?? 0));
      rest = rest.subarray(length);
    }
  };
}
