import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startSweep } from './sweep.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A realm whose stream and record are at 100, with the sweep running over both. */
async function sweptRealm() {
  const realm = { clock: 100, stream: 100, isRecent: true, isUp: true, isFull: false };
  let ready: () => void = () => undefined;
  const row = () => ({ realm_id: 1, number: realm.clock, mark: realm.clock, epoch: 1, is_recent: realm.isRecent });
  const database = {
    one: async () => ({ server: 'same' }),
    any: async ({ sql }: { sql: string }) => (realm.isRecent || sql.includes('log.realms(NULL)') ? [row()] : []),
  };
  const redis = {
    isUp: () => realm.isUp,
    redis: {
      on: (_: string, listener: () => void) => {
        ready = listener;
      },
      pipeline: () => {
        const commands: [null, string[]][] = [];
        return {
          hmget: () => commands.push([null, [String(realm.stream), String(realm.stream)]]),
          exec: async () => commands,
        };
      },
    },
  };
  const appender = {
    catchUp: async (_: number, after: number, through: number) => {
      if (realm.isFull) throw new Error("OOM command not allowed when used memory > 'maxmemory'");
      expect(after).toBe(realm.stream);
      realm.stream = through;
    },
  };
  const log = { debug: () => undefined, error: () => undefined };
  const bus = { onReconnect: () => undefined, subscribe: () => undefined };
  const measured = { swept: () => undefined, behind: () => undefined };
  const tools = { measured, beginEpoch: async () => undefined };
  const sweep = startSweep({ database, redis, appender } as never, { log, bus } as never, tools as never);
  await vi.advanceTimersByTimeAsync(1_000);
  const stop = async () => {
    const stopped = sweep.stop();
    await vi.advanceTimersByTimeAsync(1_000);
    await stopped;
  };
  return { realm, reconnect: () => ready(), stop };
}

test.each([
  ['recent', true],
  ['old', false],
])('events that were committed while Redis was away reach the stream if they are %s', async (_, isRecent) => {
  const { realm, reconnect, stop } = await sweptRealm();
  realm.isUp = false;
  realm.clock = 105;
  await vi.advanceTimersByTimeAsync(660_000);
  Object.assign(realm, { isUp: true, isRecent });
  reconnect();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(realm.stream).toBe(105);
  await stop();
});

test('events that Redis refused reach the stream when it has room again, although no newer ones follow', async () => {
  const { realm, stop } = await sweptRealm();
  Object.assign(realm, { isFull: true, clock: 105 });
  await vi.advanceTimersByTimeAsync(600_000);
  realm.isRecent = false;
  await vi.advanceTimersByTimeAsync(60_000);
  realm.isFull = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(realm.stream).toBe(105);
  await stop();
});
