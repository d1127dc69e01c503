import { headers, type Msg } from '@nats-io/nats-core';
import { unavailable } from '@natter/contracts';
import { withDeadline } from '@natter/database';
import { expect, test } from 'vitest';
import type { Blocks } from './blocks.ts';
import { bodyOf } from './bus-request.ts';

const attempt = (number: number): Msg => {
  const h = headers();
  h.set('Natter-Attempt', String(number));
  return { headers: h } as Msg;
};

/** Parts of the attempts in `live` can be read. */
function blocksOf(live: Set<Msg>, asked: Msg[] = []): Blocks {
  return {
    read: async (message: Msg) => {
      asked.push(message);
      if (!live.has(message)) throw unavailable(new Error('no responders'));
      return [Buffer.from(message.headers?.get('Natter-Attempt') ?? '')];
    },
    fetch: async (pieces: Uint8Array[]) => pieces,
  } as unknown as Blocks;
}

test('a request whose first attempt lost its parts is read from the next attempt', async () => {
  const [first, second] = [attempt(0), attempt(1)];
  const attempts: [Msg, ...Msg[]] = [first];
  const live = new Set<Msg>();
  const reading = withDeadline(5_000, (deadline) => bodyOf(attempts, blocksOf(live), deadline));
  await new Promise((resolve) => setImmediate(resolve));
  attempts.push(second);
  live.add(second);
  expect(Buffer.concat(await reading).toString()).toBe('1');
});

test('parts of a caller that reconnects are requested again', async () => {
  const only = attempt(0);
  const live = new Set<Msg>();
  const reading = withDeadline(5_000, (deadline) => bodyOf([only], blocksOf(live), deadline));
  await new Promise((resolve) => setImmediate(resolve));
  live.add(only);
  expect(Buffer.concat(await reading).toString()).toBe('0');
});

test('a request without available parts fails at the deadline, and a malformed one fails at once', async () => {
  const asked: Msg[] = [];
  const given = withDeadline(250, (deadline) => bodyOf([attempt(0)], blocksOf(new Set(), asked), deadline));
  await expect(given).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(asked.length).toBeLessThan(10);
  const malformed = { read: () => Promise.reject(new Error('too many')) } as unknown as Blocks;
  const refused = withDeadline(60_000, (deadline) => bodyOf([attempt(0)], malformed, deadline));
  await expect(refused).rejects.toThrow('too many');
});
