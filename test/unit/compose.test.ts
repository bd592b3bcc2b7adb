import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');

const condition = z.object({ condition: z.string() });
const compose = z
  .object({
    services: z.record(
      z.string(),
      z.object({
        image: z.string(),
        restart: z.string(),
        ports: z.array(z.string()).default([]),
        volumes: z.array(z.string()).default([]),
        depends_on: z.record(z.string(), condition).default({}),
        healthcheck: z.object({ test: z.array(z.string()).min(2) }).optional(),
      }),
    ),
    volumes: z.record(z.string(), z.null()),
  })
  .parse(parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }));

const services = Object.entries(compose.services);
const baseImages = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^FROM (\S+)/gm)]
  .map(([, image]) => image ?? '')
  .filter((image) => image !== 'base');

describe('docker-compose.yml', () => {
  it.each([...services.map(([name, { image }]) => [name, image]), ...baseImages.map((image) => ['Dockerfile', image])])(
    '%s: the image %s is pinned to a patch version',
    (_, image) => {
      expect(image).toMatch(/:\d+\.\d+(\.\d+)?(-|$)/);
    },
  );

  it.each(services)('%s has a healthcheck or runs once', (_, service) => {
    const runsOnce = service.restart.startsWith('on-failure');
    expect(service.healthcheck !== undefined || runsOnce).toBe(true);
  });

  it.each(services)('%s publishes ports on 127.0.0.1 only', (_, { ports }) => {
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  it.each(services)('%s waits for what is there, in a way that it can fulfil', (_, service) => {
    for (const [name, { condition }] of Object.entries(service.depends_on)) {
      const other = compose.services[name];
      const once = other?.restart.startsWith('on-failure') ?? false;
      expect([name, condition]).toEqual([name, once ? 'service_completed_successfully' : 'service_healthy']);
    }
  });

  it.each(services)('%s keeps its data in a named volume that is declared', (_, { volumes }) => {
    const named = volumes.map((volume) => volume.split(':')[0] ?? '').filter((source) => !/[./$]/.test(source));
    expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(named));
  });
});
