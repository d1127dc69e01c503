import type { ChatEvent } from '@natter/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NewestTopics } from './newest-topics.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const channelId = 3;
const message = (id: number, subject: string, stream_id = channelId): ChatEvent =>
  ({ type: 'message', message: { id, type: 'stream', stream_id, subject } }) as unknown as ChatEvent;
const rename = { type: 'update_message', stream_id: channelId, subject: 'new' } as unknown as ChatEvent;
const deletion = { type: 'delete_message', message_type: 'stream', stream_id: channelId } as unknown as ChatEvent;

interface Request {
  signal: AbortSignal;
  answer: (topics: readonly [string, number][]) => void;
  fail: () => void;
}

function following() {
  const requests: Request[] = [];
  let seen: { known: readonly string[] | undefined; problem: string | undefined } | undefined;
  const topics = new NewestTopics({
    channelId,
    size: 3,
    ask: (signal) =>
      new Promise((resolve, reject) => {
        const answer: Request['answer'] = (all) => resolve(all.map(([name, max_id]) => ({ name, max_id })));
        requests.push({ signal, answer, fail: () => reject(new Error('no connection')) });
      }),
    onChange: (known, problem) => {
      seen = { known, problem };
    },
  });
  const settled = async () => {
    await vi.advanceTimersByTimeAsync(0);
    return seen;
  };
  return { topics, requests, settled };
}

test('a message puts its topic first without another request', async () => {
  const { topics, requests, settled } = following();
  requests[0]?.answer([
    ['one', 30],
    ['two', 20],
    ['three', 10],
    ['four', 5],
  ]);
  expect((await settled())?.known).toEqual(['one', 'two', 'three']);
  topics.arrived(message(31, 'Two'));
  topics.arrived(message(32, 'elsewhere', 4));
  expect((await settled())?.known).toEqual(['Two', 'one', 'three']);
  topics.arrived(message(33, 'new'));
  await vi.advanceTimersByTimeAsync(120_000);
  expect((await settled())?.known).toEqual(['new', 'Two', 'one']);
  expect(requests.length).toBe(1);
});

test('a message that arrives before the answer is not lost', async () => {
  const { topics, requests, settled } = following();
  topics.arrived(message(40, 'new'));
  topics.arrived(message(29, 'two'));
  requests[0]?.answer([
    ['one', 30],
    ['two', 35],
  ]);
  expect((await settled())?.known).toEqual(['new', 'two', 'one']);
});

test('many moves and deletions lead to one request in half a minute', async () => {
  const { topics, requests, settled } = following();
  requests[0]?.answer([['one', 30]]);
  await settled();
  for (const event of [rename, deletion, rename]) topics.arrived(event);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(requests.length).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(requests.length).toBe(2);
  requests[1]?.answer([['new', 30]]);
  expect((await settled())?.known).toEqual(['new']);
});

test('a later request cancels the earlier one, and the end of the list cancels both', async () => {
  const { topics, requests, settled } = following();
  topics.arrived(rename);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  requests[1]?.answer([['new', 30]]);
  requests[0]?.answer([['old', 30]]);
  expect((await settled())?.known).toEqual(['new']);
  topics.arrived(rename);
  topics.stop();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(requests.length).toBe(2);
  expect(requests[1]?.signal.aborted).toBe(true);
});

test('a failure keeps the known topics, and is shown only if there are none', async () => {
  const { topics, requests, settled } = following();
  requests[0]?.fail();
  expect(await settled()).toEqual({ known: undefined, problem: 'no connection' });
  await vi.advanceTimersByTimeAsync(30_000);
  requests[1]?.answer([['one', 30]]);
  expect(await settled()).toEqual({ known: ['one'], problem: undefined });
  topics.arrived(rename);
  await vi.advanceTimersByTimeAsync(30_000);
  requests[2]?.fail();
  expect(await settled()).toEqual({ known: ['one'], problem: undefined });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(requests.length).toBe(4);
});
