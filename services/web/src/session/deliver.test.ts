import { type CallOptions, type Client, OutcomeUnknown } from '@natter/client';
import { expect, test } from 'vitest';
import { deliver } from './deliver.ts';
import { notConfirmed } from './outbox-store.ts';

test('a message without a response for too long is reported to its writer', async () => {
  const calls: CallOptions[] = [];
  const client = {
    sendMessage: async (_: unknown, options: CallOptions) => {
      calls.push(options);
      throw new OutcomeUnknown(new TypeError('no connection'));
    },
  } as unknown as Client;
  const place = { kind: 'topic', channelId: 1, topic: 'greetings' } as const;
  const outcome = await deliver(client, { id: 'a', place, content: 'hello', at: 17, queueId: 'q' });
  expect(outcome).toEqual({ type: 'refused', id: 'a', problem: notConfirmed() });
  // The age of the message counts, also on a page that was loaded later.
  expect(calls).toMatchObject([{ idempotencyKey: 'a', firstSentAt: 17 }]);
});
