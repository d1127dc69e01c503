import { headers, type Msg, type NatsConnection, TimeoutError } from '@nats-io/nats-core';
import { expect, test } from 'vitest';
import { createBlocks } from './blocks.ts';

/** Answers each part after a moment, and knows how many were asked for at a time. */
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

test('parts of a message are asked for some at a time, and put together in order', async () => {
  const { seen, connection } = connectionWithParts();
  const [bytes] = (await createBlocks(connection, 'users').read(messageOf('40'), performance.now() + 5_000)) as [
    Buffer,
  ];
  expect(bytes.toString()).toBe(Array.from({ length: 40 }, (_, index) => `<${index}>`).join(''));
  expect(seen.most).toBeLessThanOrEqual(4);
});

test('a part whose request was lost is asked for again', async () => {
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
  const [bytes] = (await createBlocks(lossy, 'users').read(messageOf('3'), performance.now() + 30_000)) as [Buffer];
  expect(bytes.toString()).toBe('<0><1><2>');
  expect(asked).toHaveLength(3);
  expect(Math.max(...asked)).toBeLessThan(3_000);
  expect(seen.asked).toBe(2);
});

test('a part that never arrives is given up at the deadline', async () => {
  const connection = {
    subscribe: () => undefined,
    request: (_: string, __: string, { timeout }: { timeout: number }) =>
      new Promise((_, reject) => setTimeout(() => reject(new TimeoutError()), timeout)),
  } as unknown as NatsConnection;
  const read = createBlocks(connection, 'users').read(messageOf('2'), performance.now() + 50);
  await expect(read).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test.each(['1000000000', 'NaN', 'x'])('a message of %s parts is refused before any is asked for', async (parts) => {
  const { seen, connection } = connectionWithParts();
  await expect(createBlocks(connection, 'users').read(messageOf(parts), performance.now() + 5_000)).rejects.toThrow(
    'too many',
  );
  expect(seen.asked).toBe(0);
});
