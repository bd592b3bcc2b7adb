import { type AddressInfo, createServer, type Server } from 'node:net';

export const HOST = '127.0.0.1';

/** For each wish that port where it is free, or else another that is free now. */
export async function choosePorts(wishes: readonly (number | undefined)[]): Promise<number[]> {
  const servers: Server[] = [];
  try {
    // All are held until the last is found, so that none comes twice.
    for (const wish of wishes) servers.push((await listen(wish ?? 0)) ?? (await listenAnywhere()));
    return servers.map((server) => (server.address() as AddressInfo).port);
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

async function listenAnywhere(): Promise<Server> {
  const server = await listen(0);
  if (server === undefined) throw new Error(`No port of ${HOST} is free; end a program that listens there`);
  return server;
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, HOST, () => resolve(server));
  });
}
