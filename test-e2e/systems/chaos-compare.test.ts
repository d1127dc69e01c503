import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';
import type { Sent } from '../chaos/client.ts';
import { compare } from '../chaos/compare.ts';
import { type Watcher, watch } from '../chaos/watcher.ts';
import { openSystem } from '../open-system.ts';

let system: System;
let watcher: Watcher;
const sent = new Map<number, Sent>();
beforeAll(async () => {
  system = await openSystem();
  watcher = await watch(system.url, system.people.member);
});
afterAll(async () => {
  watcher?.stop();
  await system?.stop();
});

const compared = (): Promise<string[]> => {
  const at = { url: system.url, redisUrl: system.servers.redisUrl };
  return compare(at, [watcher], { owner: system.people.owner, sent });
};
const ask = async (who: 'owner' | 'member', route: string, form: Record<string, unknown>) => {
  const { status, body } = await request(system.url, system.people[who], route, form);
  expect([status, body.msg]).toEqual([200, '']);
  return body;
};
let count = 0;
const send = async (to: string) => {
  const content = `message ${count++} at ${Date.now()}`;
  const { id } = await ask('owner', 'POST /messages', { type: 'channel', to, topic: 'round', content });
  sent.set(id, { by: system.people.owner.user_id, content });
  if (to === 'general') await expect.poll(() => watcher.messages.has(id)).toBe(true);
  return id;
};

test('a message that was sent while the user was not subscribed does not count as lost', async () => {
  const channel = { subscriptions: [{ name: 'left' }] };
  await ask('owner', 'POST /users/me/subscriptions', channel);
  await ask('member', 'POST /users/me/subscriptions', channel);
  await send('general');
  await ask('member', 'DELETE /users/me/subscriptions', { subscriptions: ['left'] });
  const missed = await send('left');
  await ask('member', 'POST /users/me/subscriptions', channel);
  await send('general');
  const feed = { anchor: missed, num_before: 0, num_after: 0, apply_markdown: false };
  const { messages } = await ask('member', 'GET /messages', feed);
  // Checks the setup: this is the only message that the watcher has missed.
  expect(messages.map(({ id }: { id: number }) => id)).toEqual([missed]);
  expect(watcher.messages.has(missed)).toBe(false);
  sent.delete(missed);
  expect(await compared()).toEqual([]);
});

test('a message that is missing in the queue is reported, even in a channel that the user had left before', async () => {
  const id = await send('left');
  await send('general');
  expect(watcher.messages.delete(id)).toBe(true);
  expect((await compared()).join('\n')).toContain('the feed has');
});
