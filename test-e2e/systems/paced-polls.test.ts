/** Polls that come faster than their budget. */
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorizationOf, type Credentials, request } from '../api.ts';
import { withinOneWindow } from '../one-window.ts';
import { openSystem } from '../open-system.ts';

const limit = 60;
let system: System;
beforeAll(async () => {
  system = await openSystem({ gateways: 1, env: { NATTER_RATE_LIMIT: String(limit) } });
});
afterAll(() => system?.stop());

interface Polled {
  status: number;
  remaining: number;
  events: unknown;
}

/** Follows a new queue of direct messages as server-sent events. */
async function streamOf(who: Credentials) {
  const form = { event_types: ['message'], fetch_event_types: [] };
  const { queue_id } = (await request(system.url, who, 'POST /register', form)).body;
  const answer = await fetch(`${system.url}/api/v1/events?queue_id=${queue_id}&last_event_id=-1`, {
    headers: { authorization: authorizationOf(who), accept: 'text/event-stream' },
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const stream = { text: '', hasEnded: false, close: () => reader?.cancel() };
  void (async () => {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) stream.text += part.value;
    stream.hasEnded = true;
  })();
  return stream;
}

/** Sends a direct message. */
const tell = (from: Credentials, to: { user_id: number }, content: string) =>
  request(system.url, from, 'POST /messages', { type: 'direct', to: [to.user_id], content });

/** Returns a function that polls a new queue, which gets no events. */
async function queueOf(who: Credentials): Promise<(isBlocking?: boolean) => Promise<Polled>> {
  const form = { event_types: ['realm_emoji'], fetch_event_types: [] };
  const { queue_id } = (await request(system.url, who, 'POST /register', form)).body;
  const url = `${system.url}/api/v1/events?queue_id=${queue_id}&last_event_id=-1`;
  return async (isBlocking = false) => {
    const answer = await fetch(`${url}&dont_block=${!isBlocking}`, {
      headers: { authorization: authorizationOf(who) },
    });
    const { events } = (await answer.json()) as { events?: unknown };
    return { status: answer.status, remaining: Number(answer.headers.get('x-ratelimit-remaining')), events };
  };
}

const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

test('a poll that is refused because others wait does not count', async () => {
  const poll = await queueOf(system.people.member);
  await withinOneWindow(async () => {
    const polled = await Promise.all(many(2 * limit, () => poll()));
    const [served, refused] = [200, 429].map((wanted) => polled.filter(({ status }) => status === wanted));
    expect([served?.length, refused?.length]).toEqual([expect.any(Number), 2 * limit - (served?.length ?? 0)]);
    const left = Math.min(...polled.map(({ remaining }) => remaining));
    expect(left).toBe(limit - (served?.length ?? 0));
    expect(left).toBeGreaterThan(0);
  });
});

test('each delivery of a stream of events counts like a poll', async () => {
  const { administrator, owner } = system.people;
  const sent = 12;
  await withinOneWindow(async () => {
    const poll = await queueOf(administrator);
    const stream = await streamOf(administrator);
    const { remaining } = await poll();
    for (let count = 1; count <= sent; count++) await tell(owner, administrator, `number ${count}.`);
    await expect.poll(() => stream.text).toContain(`number ${sent}.`);
    expect(stream.text.match(/"content":"number/g)).toHaveLength(sent);
    await stream.close();
    // Several events may be delivered together.
    expect(remaining - (await poll()).remaining).toBeGreaterThan(sent / 2);
  });
});

test('a stream of a user who polls too often ends with the time after which it may resume', async () => {
  const { member, owner } = system.people;
  const poll = await queueOf(member);
  const stream = await streamOf(member);
  while (!stream.hasEnded) {
    await Promise.race([Promise.all(many(limit, () => poll())), new Promise((resolve) => setTimeout(resolve, 500))]);
    await tell(owner, member, 'next');
  }
  expect(stream.text).toMatch(/\nretry: \d{4,5}\nevent: error\ndata: \{.*"RATE_LIMIT_HIT".*\}\n\n$/);
});

test('polls that wait are answered when their gateway stops', async () => {
  const { moderator, member2, guest } = system.people;
  const queues = await Promise.all([moderator, member2, guest].map(queueOf));
  let waiting = 0;
  const polled = queues.flatMap((poll) =>
    many(limit, async () => {
      waiting++;
      try {
        return await poll(Math.random() < 0.5);
      } finally {
        waiting--;
      }
    }),
  );
  const settled = Promise.all(polled.map((one) => one.catch(({ message, cause }) => `${message}: ${cause?.code}`)));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(waiting).toBeGreaterThan(queues.length);
  const begunAt = performance.now();
  system.children.find(({ program }) => program === 'gateway')?.kill('SIGTERM');
  const answers = await settled;
  // On a busy machine later than after half a second of draining and the time over which the answers are spread.
  expect(performance.now() - begunAt).toBeLessThan(5_000);
  const others = answers.filter((one) => typeof one === 'string' || one.status !== 429);
  const empty = { status: 200, remaining: expect.any(Number), events: [] };
  expect(others).toEqual(others.map(() => empty));
});
