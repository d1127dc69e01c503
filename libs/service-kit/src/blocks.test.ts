import { headers, type Msg, type NatsConnection, TimeoutError } from '@nats-io/nats-core';
import { expect, test } from 'vitest';
import { createBlocks } from './blocks.ts';
import { broker, maxPayload } from './in-memory-nats.ts';
import { Block, listOf, type Piece } from './json-pieces.ts';

const log = { error: () => undefined };

/** Answers each part after a moment, and counts how many parts are requested at a time. */
function connectionWithParts() {
  const seen = { atATime: 0, most: 0, asked: 0 };
  const request = async (_: string, name: string) => {
    seen.asked++;
    seen.atATime++;
    seen.most = Math.max(seen.most, seen.atATime);
    await new Promise((resolve) => setImmediate(resolve));
    seen.atATime--;
    return { data: Buffer.from(`<${name}>`) };
  };
  return { seen, connection: { request, subscribe: () => undefined } as unknown as NatsConnection };
}

function messageOf(parts: string): Msg {
  const all = headers();
  all.set('Natter-Parts', parts);
  all.set('Natter-Parts-Subject', 'subject');
  return { headers: all, data: Buffer.from('<0>') } as unknown as Msg;
}

test('parts of a message are requested a few at a time and assembled in order', async () => {
  const { seen, connection } = connectionWithParts();
  const [bytes] = (await createBlocks(connection, 'users', log).read(messageOf('40'), performance.now() + 5_000)) as [
    Buffer,
  ];
  expect(bytes.toString()).toBe(Array.from({ length: 40 }, (_, index) => `<${index}>`).join(''));
  expect(seen.most).toBeLessThanOrEqual(4);
});

test('a part whose request was lost is requested again', async () => {
  const { seen, connection } = connectionWithParts();
  const asked: number[] = [];
  const lossy = {
    ...connection,
    request: async (subject: string, name: string, { timeout }: { timeout: number }) => {
      asked.push(timeout);
      if (asked.length === 1) throw new TimeoutError();
      return connection.request(subject, name);
    },
  } as unknown as NatsConnection;
  const [bytes] = (await createBlocks(lossy, 'users', log).read(messageOf('3'), performance.now() + 30_000)) as [
    Buffer,
  ];
  expect(bytes.toString()).toBe('<0><1><2>');
  expect(asked).toHaveLength(3);
  expect(Math.max(...asked)).toBeLessThan(3_000);
  expect(seen.asked).toBe(2);
});

test('the wait for a part that never arrives ends at the deadline', async () => {
  const connection = {
    subscribe: () => undefined,
    request: (_: string, __: string, { timeout }: { timeout: number }) =>
      new Promise((_, reject) => setTimeout(() => reject(new TimeoutError()), timeout)),
  } as unknown as NatsConnection;
  const read = createBlocks(connection, 'users', log).read(messageOf('2'), performance.now() + 50);
  await expect(read).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test.each(['1000000000', 'NaN', 'x'])('a message of %s parts is rejected before any is requested', async (parts) => {
  const { seen, connection } = connectionWithParts();
  await expect(
    createBlocks(connection, 'users', log).read(messageOf(parts), performance.now() + 5_000),
  ).rejects.toThrow('too many');
  expect(seen.asked).toBe(0);
});

test('a block whose answer was lost is sent again, and is forgotten after it has arrived', async () => {
  const { connection, confirmed } = broker((asked) => asked === 1);
  const owner = createBlocks(connection, 'messaging', log);
  const receiver = createBlocks(connection, 'gateway', log);
  const result = Buffer.alloc(600_000, 'a large result ');
  const offered = (): Msg => {
    const all = headers();
    const data = Buffer.from(owner.offer([result], all));
    return { headers: all, data, string: () => data.toString() } as unknown as Msg;
  };
  const end = performance.now() + 30_000;
  const pieces = await receiver.read(offered(), end);
  expect(Buffer.concat(await receiver.fetch(pieces, end)).equals(result)).toBe(true);
  expect(confirmed.length).toBeGreaterThan(1);
  await expect(receiver.fetch(pieces, end)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('blocks that were sent and not confirmed take a quarter of the room for blocks', async () => {
  const { connection } = broker(() => false);
  // Like a process of the previous release.
  const silent = { ...connection, publish: () => undefined };
  const owner = createBlocks(connection, 'messaging', log);
  const receiver = createBlocks(silent as unknown as NatsConnection, 'gateway', log);
  const all = headers();
  const data = Buffer.from(owner.offer([Buffer.alloc(80 * 1024 * 1024)], all));
  const end = performance.now() + 30_000;
  const pieces = await receiver.read({ headers: all, data } as unknown as Msg, end);
  await receiver.fetch(pieces, end);
  const again = await Promise.allSettled(pieces.map((piece) => receiver.fetch([piece], end)));
  const bytes = again
    .flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    .reduce((sum, { length }) => sum + length, 0);
  expect(bytes).toBeGreaterThan(60 * 1024 * 1024);
  expect(bytes).toBeLessThanOrEqual(64 * 1024 * 1024 + 2);
});

/** The pieces that a receiver puts together. */
async function transferred({ connection }: ReturnType<typeof broker>, pieces: readonly Piece[]) {
  const all = headers();
  const payload = createBlocks(connection, 'users', log).offer(pieces, all);
  expect(payload.length).toBeLessThanOrEqual(maxPayload);
  const receiver = createBlocks(connection, 'gateway', log);
  const end = performance.now() + 30_000;
  const read = await receiver.read({ headers: all, data: payload } as unknown as Msg, end);
  return Buffer.concat(await receiver.fetch(read, end)).toString();
}

test('blocks that no message of NATS can carry arrive complete', async () => {
  const texts = ['a', 'ü', '漢'].map((letter) => JSON.stringify(letter.repeat(700_000)));
  const got = await transferred(
    broker(() => false),
    listOf(texts.map((text) => new Block(text))).pieces,
  );
  expect(got).toBe(`[${texts.join(',')}]`);
});

test('so many short pieces that no message of NATS can carry their list arrive complete', async () => {
  const texts = Array.from({ length: 1_000 }, (_, index) => JSON.stringify(`"${index}"`.repeat(500)));
  const got = await transferred(
    broker(() => false),
    listOf(texts.map((text) => new Block(text))).pieces,
  );
  expect(got).toBe(`[${texts.join(',')}]`);
});

test('a part that NATS refuses is not asked for again, and the process hears further requests', async () => {
  let asked = 0;
  const counting = broker(() => ++asked < 0, 100_000);
  await expect(transferred(counting, listOf([new Block('a'.repeat(200_000))]).pieces)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
  expect(asked).toBe(1);
  expect(await transferred(counting, listOf([new Block('b'.repeat(90_000))]).pieces)).toHaveLength(90_002);
});
