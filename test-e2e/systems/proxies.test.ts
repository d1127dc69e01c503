import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startSystem } from '@natter/local/system';
import { afterEach, expect, test } from 'vitest';

let system: System | undefined;
afterEach(() => system?.stop());

async function start(env: Record<string, string>): Promise<(forwarded: Record<string, string>) => Promise<Response>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-proxies-'));
  const started = await startSystem({ dataDir, env: { ...process.env, ...env }, log: () => undefined });
  system = started;
  return (headers) => fetch(`${started.url}/api/v1/server_settings`, { headers });
}

const client = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7', 'x-forwarded-host': 'chat.example' };

test('a proxy that is trusted says how and from where a request came', async () => {
  const ask = await start({ NATTER_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8', NATTER_RATE_LIMIT_ANONYMOUS: '3' });
  const answer = (await (await ask(client)).json()) as { realm_url: string };
  expect(answer.realm_url).toBe('https://chat.example');
  // Each address behind it has a limit of its own.
  const used = async (from: string): Promise<number> => {
    const response = await ask({ ...client, 'x-forwarded-for': from });
    return Number(response.headers.get('x-ratelimit-remaining'));
  };
  expect([await used('203.0.113.8'), await used('203.0.113.8'), await used('203.0.113.9')]).toEqual([2, 1, 2]);
});

test('nobody else says anything of the kind', async () => {
  const ask = await start({});
  const answer = (await (await ask(client)).json()) as { realm_url: string };
  expect(answer.realm_url).toMatch(/^http:\/\/127\.0\.0\.1/);
});
