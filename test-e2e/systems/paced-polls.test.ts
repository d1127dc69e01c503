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
  retryAfter: number;
  at: number;
}

/** Returns a function that polls a new queue without waiting for events. */
async function queueOf(who: Credentials): Promise<() => Promise<Polled>> {
  const form = { event_types: ['realm_emoji'], fetch_event_types: [] };
  const { queue_id } = (await request(system.url, who, 'POST /register', form)).body;
  const url = `${system.url}/api/v1/events?queue_id=${queue_id}&last_event_id=-1&dont_block=true`;
  return async () => {
    const answer = await fetch(url, { headers: { authorization: authorizationOf(who) } });
    const body = (await answer.json()) as Record<string, unknown>;
    return {
      status: answer.status,
      remaining: Number(answer.headers.get('x-ratelimit-remaining')),
      retryAfter: Number(body['retry-after']),
      at: performance.now(),
    };
  };
}

const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

test('a poll that is refused because others wait does not count', async () => {
  const poll = await queueOf(system.people.member);
  await withinOneWindow(async () => {
    const polled = await Promise.all(many(2 * limit, poll));
    const [served, refused] = [200, 429].map((wanted) => polled.filter(({ status }) => status === wanted));
    expect([served?.length, refused?.length]).toEqual([expect.any(Number), 2 * limit - (served?.length ?? 0)]);
    const left = Math.min(...polled.map(({ remaining }) => remaining));
    expect(left).toBe(limit - (served?.length ?? 0));
    expect(left).toBeGreaterThan(0);
  });
});
