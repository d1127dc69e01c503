import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { System } from '@natter/local/system';
import { Upload } from 'tus-js-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorizationOf, request } from '../api.ts';
import { openSystem } from '../open-system.ts';

const mib = 1024 * 1024;
let system: System;
beforeAll(async () => {
  system = await openSystem({ gateways: 2, env: { NATTER_STALL_SECONDS: '600' } });
});
afterAll(() => system?.stop());

/** Passes connections on to the gateways; each one after as many bytes of the client as `limits` names stalls. */
async function stallingProxy(limits: number[]): Promise<{ url: string; cut: () => void; close: () => void }> {
  const { hostname, port } = new URL(system.url);
  const clients = new Set<Socket>();
  const server: Server = createServer((client) => {
    const gateway = connect(Number(port), hostname);
    clients.add(client);
    let left = Number.POSITIVE_INFINITY;
    client.on('data', (bytes) => {
      // Only the connection that carries the file has a limit.
      if (bytes.includes('PATCH /api/v1/tus/')) left = limits.shift() ?? Number.POSITIVE_INFINITY;
      gateway.write(bytes.subarray(0, Math.max(left, 0)));
      left -= bytes.length;
      if (left <= 0) client.pause();
    });
    gateway.pipe(client);
    for (const [one, other] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
    client.on('close', () => clients.delete(client));
  });
  await new Promise<void>((resolve) => server.listen(0, hostname, resolve));
  return {
    url: `http://${hostname}:${(server.address() as AddressInfo).port}`,
    cut: () => {
      for (const client of clients) client.destroy();
    },
    close: () => server.close(),
  };
}

async function offsetOf(path: string): Promise<number> {
  const headers = { authorization: authorizationOf(system.people.member), 'tus-resumable': '1.0.0' };
  const answer = await fetch(`${system.url}${path}`, { method: 'HEAD', headers });
  return Number(answer.headers.get('upload-offset'));
}

test('a stock client continues its upload after a cut connection and after all gateways were killed', async () => {
  const { member } = system.people;
  const bytes = randomBytes(6 * mib);
  const proxy = await stallingProxy([mib, 2 * mib]);
  let path = '';
  const done = new Promise<{ url: string; filename: string }>((resolve, reject) => {
    const upload = new Upload(bytes, {
      endpoint: `${proxy.url}/api/v1/tus/`,
      headers: { Authorization: authorizationOf(member) },
      metadata: { filename: 'resumed.bin', filetype: 'application/octet-stream' },
      retryDelays: Array.from({ length: 200 }, () => 500),
      onUploadUrlAvailable: () => {
        path = new URL(upload.url ?? '').pathname;
      },
      onSuccess: ({ lastResponse }) => resolve(JSON.parse(lastResponse.getBody())),
      onError: reject,
    });
    upload.start();
  });
  const reached = async (offset: number): Promise<void> =>
    expect
      .poll(async () => [path === '', await offsetOf(path)])
      .toEqual([false, expect.toSatisfy((at) => at > offset)]);
  await reached(0);
  proxy.cut();
  await reached(2 * mib);
  const gateways = system.children.filter(({ program }) => program === 'gateway');
  const before = gateways.map((one) => one.pid());
  for (const one of gateways) one.kill('SIGKILL');
  const { url, filename } = await done;
  proxy.close();
  expect(gateways).toHaveLength(2);
  for (const pid of gateways.map((one) => one.pid())) expect(before).not.toContain(pid);
  expect(filename).toBe('resumed.bin');
  const stored = await fetch(`${system.url}${url}`, { headers: { authorization: authorizationOf(member) } });
  expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true);
  const { attachments } = (await request(system.url, member, 'GET /attachments')).body;
  expect(attachments.map(({ name, size }: { name: string; size: number }) => [name, size])).toEqual([
    ['resumed.bin', bytes.length],
  ]);
});

test('a stock client cancels its upload, and the server deletes it', async () => {
  const { member } = system.people;
  const proxy = await stallingProxy([mib]);
  const upload = new Upload(randomBytes(3 * mib), {
    endpoint: `${proxy.url}/api/v1/tus/`,
    headers: { Authorization: authorizationOf(member) },
    retryDelays: [],
  });
  upload.start();
  await expect.poll(() => upload.url).not.toBeNull();
  const { pathname } = new URL(upload.url ?? '');
  await expect.poll(() => offsetOf(pathname)).toBeGreaterThan(0);
  await upload.abort(true);
  proxy.close();
  const headers = { authorization: authorizationOf(member), 'tus-resumable': '1.0.0' };
  expect((await fetch(`${system.url}${pathname}`, { method: 'HEAD', headers })).status).toBe(404);
});
