import { type Actor, type RequestMeta, roles } from '@natter/contracts';
import { type Database, type Executor, sql } from '@natter/database';
import { expect, test } from 'vitest';
import { type ChannelAccess, createChannelAccess } from '../channel-access.ts';
import type { ChannelCache, PostingRules } from '../channel-cache.ts';
import type { Reader } from './reader.ts';
import { scopeOf } from './scope.ts';

const meta: RequestMeta = { requestId: '1', realmId: 1, client: 'test' };
const actorOf = (role: number) => ({ userId: 5, realmId: 1, role, groupIds: [] }) as unknown as Actor;

/** Channels that are open to members, whose copies have the version 1; the channel 3 has been closed since. */
function looking() {
  const looked = { calls: 0, atOnce: 0, queries: 0 };
  let running = 0;
  const channels: ChannelCache = {
    get: async (channel, _, fresh) => {
      looked.calls++;
      looked.atOnce = Math.max(looked.atOnce, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      const isClosed = fresh && channel === 3;
      const permissions = { can_subscribe_group: 0, can_add_subscribers_group: 0 };
      const subscribers = { ids: [] };
      return {
        channel_id: channel,
        version: fresh ? 2 : 1,
        is_private: isClosed,
        permissions,
        subscribers,
      } as unknown as PostingRules;
    },
  };
  const versions = (ids: readonly number[]) => ids.map((id) => ({ key: `channel:${id}`, version: id === 3 ? 2 : 1 }));
  const database = {
    any: async () => {
      looked.queries++;
      return versions(Array.from({ length: 1_000 }, (_, id) => id));
    },
  } as unknown as Database;
  return { looked, access: createChannelAccess(channels, database) };
}

test('the channels of named messages are looked up several at once, up to a bound, in their current version', async () => {
  const { looked, access } = looking();
  const ids = Array.from({ length: 500 }, (_, index) => index + 1);
  const readable = await access.readableAmong(actorOf(roles.member), meta, ids);
  expect([...readable.keys()]).toEqual(ids.slice(0, 100).filter((id) => id !== 3));
  // One cached channel was outdated and was read again.
  expect(looked).toEqual({ calls: 101, atOnce: 10, queries: 10 });
  const most = await access.readableAmong(actorOf(roles.member), meta, ids, 300);
  expect([...most.keys()]).toEqual(ids.slice(0, 300).filter((id) => id !== 3));
});

test('channels are not looked up for a guest, because permissions do not open channels to guests', async () => {
  const asked: string[] = [];
  const access = new Proxy({} as ChannelAccess, {
    get: (_, name) => {
      asked.push(String(name));
      return async () => new Map();
    },
  });
  const executor = { any: async () => [{ channel_id: 1, history_public: true }] } as unknown as Executor;
  const none = sql.array([], 'int4');
  const readable = { whole: none, received: none, isOpen: sql.fragment`false` };
  const readerOf = (role: number): Reader => ({
    executor,
    meta,
    actor: actorOf(role),
    access,
    decideSeeing: (decide) => decide(new Set()),
    readable: async () => readable,
  });
  await scopeOf(readerOf(roles.guest), [], [1]);
  expect(asked).toEqual([]);
  await scopeOf(readerOf(roles.member), [], [1]);
  expect(asked).toEqual(['readableAmong']);
});
