import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Refused } from '../model/outgoing/guarded-request.ts';
import { fetchMedia } from './fetch-media.ts';

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100, 7)]);
const [permitted, internal] = ['127.0.0.2', '127.0.0.1'];
/** Servers at the same port of both addresses, and the paths that each was asked for. */
const asked = { permitted: [] as string[], internal: [] as string[] };
const servers: Server[] = [];
let port: number;

function listen(at: keyof typeof asked, host: string, onPort: number): Promise<Server> {
  const server = createServer((from, to) => {
    asked[at].push(from.url ?? '');
    if (from.url === '/again') return to.writeHead(302, { location: '/image.png' }).end();
    return to.setHeader('content-type', 'image/png').end(png);
  });
  servers.push(server);
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(onPort, host, () => resolve(server));
  });
}

beforeAll(async () => {
  // Connections of other tests may use the port at the second address.
  for (let left = 100; ; left--) {
    const site = await listen('permitted', permitted, 0);
    port = (site.address() as AddressInfo).port;
    const isBoth = await listen('internal', internal, port).then(
      () => true,
      () => false,
    );
    if (isBoth) return;
    if (left === 0) throw new Error('no port is free at both addresses');
  }
});
afterAll(() => {
  for (const server of servers) server.close();
});

/** Fetches from a name that has the next of these lists of addresses at each look-up, and the last one from then on. */
async function fetchFrom(path: string, ...answers: string[][]): Promise<{ lookups: number; result: unknown }> {
  for (const paths of Object.values(asked)) paths.length = 0;
  let lookups = 0;
  const result = await fetchMedia(`http://changing.example:${port}${path}`, {
    mayReach: (address) => address === permitted,
    maxBytes: 1_000,
    timeoutMs: 30_000,
    resolve: async () => {
      const addresses = answers[Math.min(lookups++, answers.length - 1)] ?? [];
      return addresses.map((address) => ({ address, family: 4 }));
    },
  }).catch((error: unknown) => error);
  return { lookups, result };
}

test('a name whose addresses change after the check is reached at the checked address', async () => {
  const { lookups, result } = await fetchFrom('/image.png', [permitted], [internal]);
  expect(result).toEqual({ type: 'image/png', content: png });
  expect(lookups).toBe(1);
  expect(asked).toEqual({ permitted: ['/image.png'], internal: [] });
});

test('a host name is checked again when a redirect is followed', async () => {
  const { lookups, result } = await fetchFrom('/again', [permitted], [internal]);
  expect(result).toBeInstanceOf(Refused);
  expect(lookups).toBe(2);
  expect(asked).toEqual({ permitted: ['/again'], internal: [] });
  expect((await fetchFrom('/again', [permitted])).result).toEqual({ type: 'image/png', content: png });
});

test.each([[[internal]], [[permitted, internal]], [[internal, permitted]], [['::ffff:127.0.0.1']], [[]]])(
  'a host name with the addresses %j is not fetched',
  async (addresses) => {
    const { result } = await fetchFrom('/image.png', addresses);
    expect(result).toBeInstanceOf(Refused);
    expect(asked).toEqual({ permitted: [], internal: [] });
  },
);
