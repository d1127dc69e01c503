import { expect, test } from 'vitest';
import { withinOneWindow } from '../../one-window.ts';
import { system } from './system.ts';

test('a trusted proxy determines the client address of a request, but not the origin of links', async () => {
  const ask = (from: string): Promise<Response> =>
    fetch(`${system.url}/api/v1/server_settings`, {
      headers: { 'x-forwarded-proto': 'https', 'x-forwarded-for': from, 'x-forwarded-host': 'chat.example' },
    });
  const answer = (await (await ask('203.0.113.7')).json()) as { realm_url: string };
  expect(answer.realm_url).toBe(system.url);
  // Each address behind the proxy has its own limit.
  const left = async (from: string): Promise<number> => Number((await ask(from)).headers.get('x-ratelimit-remaining'));
  let host = 8;
  await withinOneWindow(async () => {
    const [one, other] = [`203.0.113.${host++}`, `203.0.113.${host++}`];
    const full = await left(one);
    expect(full).toBeGreaterThan(0);
    expect([await left(one), await left(other)]).toEqual([full - 1, full]);
  });
});
