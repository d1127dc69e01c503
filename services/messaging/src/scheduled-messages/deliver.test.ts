import { ChatError } from '@natter/contracts';
import { pause, type Work } from '@natter/database';
import { expect, test } from 'vitest';
import { createDelivery, type Delivery } from './deliver.ts';

const rowOf = (id: number, content: string, late: number) => ({
  id,
  revision: 1,
  kind: 'notice',
  content,
  client: 'test',
  channel_id: 1,
  due: 0,
  late,
});

interface Options {
  /** Whether another process holds the rows. */
  isHeld?: boolean;
  late?: number;
  /** A transaction with more messages does not end. */
  maxMessages?: number;
}

/**
 * A delivery of these messages, whose decisions fail with an error if they contain `bad`; what it sends, and the number of
 * statements by which it changes rows.
 */
function delivering(
  contents: readonly string[],
  error: Error,
  { isHeld = false, late = 0, maxMessages = contents.length }: Options = {},
) {
  const sent: string[] = [];
  let changes = 0;
  const work = {
    realmId: 1,
    any: async () => (isHeld ? [] : contents.map((_, index) => ({ id: index + 1, revision: 1 }))),
    maybeOne: async () => (isHeld ? undefined : { id: 1 }),
    run: async () => ++changes,
    one: async () => ({ is_mine: true, now: 0 }),
    expectVersions: () => undefined,
    numbered: () => undefined,
    emit: ({ body }: { body: { content: string } }) => sent.push(body.content),
  } as unknown as Work;
  const delivery = {
    database: {
      any: async () =>
        contents
          .map((content, index) => rowOf(index + 1, content, late))
          .filter(({ content }) => !sent.includes(content)),
      one: async () => ({ number: 0, behind: [] }),
    },
    background: async (_: number, handler: (work: Work) => Promise<unknown>) => {
      const before = sent.length;
      const result = await handler(work);
      if (sent.length - before <= maxMessages) return result;
      sent.splice(before);
      return pause(600_000);
    },
    commitMs: 10,
    authors: { get: async () => ({}) },
    deciding:
      () =>
      async (_: unknown, __: unknown, { content }: { content: string }) => {
        if (content === 'bad') throw error;
        return { expected: {}, events: [{ type: 'message', body: { content } }], numbered: () => [] };
      },
    onSent: () => undefined,
    onError: () => undefined,
  } as unknown as Delivery;
  return { sent, changes: () => changes, deliver: createDelivery(delivery) };
}

test('an internal error for one message does not delay the other messages of its realm', async () => {
  const { sent, deliver } = delivering(['bad', 'good'], new ChatError('INTERNAL_ERROR', 'Internal server error'));
  await deliver(1);
  expect(sent).toEqual(['good']);
});

test('while a service is unavailable, delivery stops after the first message', async () => {
  const { sent, deliver } = delivering(['bad', 'good'], new ChatError('SERVICE_UNAVAILABLE', 'away'));
  await expect(deliver(1)).rejects.toThrow('away');
  expect(sent).toEqual([]);
});

test.each(['good', 'bad'])('a %s message is skipped while another process holds its row', async (content) => {
  const error = new ChatError('BAD_REQUEST', 'refused');
  const { sent, changes, deliver } = delivering([content], error, { isHeld: true });
  expect(await deliver(1)).toBe('idle');
  expect([sent, changes()]).toEqual([[], 0]);
});

test('long messages are sent in transactions of few messages', async () => {
  const contents = [...Array(15).keys()].map((nth) => `${nth} `.padEnd(10_000, 'a'));
  const { sent, deliver } = delivering(contents, new Error());
  expect([await deliver(1), sent.length]).toEqual(['more', 10]);
  expect([await deliver(1), sent]).toEqual(['done', contents]);
});

test('messages whose transaction takes too long are sent in smaller ones', async () => {
  const contents = [...Array(9).keys()].map(String);
  const { sent, deliver } = delivering(contents, new Error(), { maxMessages: 2 });
  const failures: unknown[] = [];
  for (let round = 0; round < 20 && sent.length < contents.length; round++)
    await deliver(1).catch((error: unknown) => failures.push(error));
  expect(sent).toEqual(contents);
  expect(failures).toMatchObject(failures.map(() => ({ code: 'SERVICE_UNAVAILABLE' })));
});

test('messages of a deactivated realm wait for a day', async () => {
  const error = new ChatError('REALM_DEACTIVATED', 'deactivated');
  const outcomeAfter = async (late: number) => {
    const { changes, deliver } = delivering(['bad'], error, { late });
    return [await deliver(1), changes()];
  };
  expect(await outcomeAfter(86_000)).toEqual(['closed', 0]);
  expect(await outcomeAfter(87_000)).toEqual(['done', 1]);
});
