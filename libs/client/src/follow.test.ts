import { expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import type { Client } from './client.ts';
import { follow } from './follow.ts';
import { OutcomeUnknown } from './outcome-unknown.ts';

test('a feed continues after an outage that lasted longer than the idempotency key of its register', async () => {
  let registers = 0;
  const client = {
    register: async () => {
      registers++;
      if (registers === 2) throw new OutcomeUnknown(new TypeError('no connection'));
      return { queue_id: `queue ${registers}`, last_event_id: -1 };
    },
    getEvents: async () => {
      throw new ApiError(400, { code: 'BAD_EVENT_QUEUE_ID', msg: 'Bad event queue ID' });
    },
    deleteQueue: async () => undefined,
  } as unknown as Client;
  const feed = await follow(client);
  for await (const next of feed) {
    expect(next).toMatchObject({ type: 'gap', state: { queue_id: 'queue 3' } });
    break;
  }
});
