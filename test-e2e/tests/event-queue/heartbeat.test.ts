import { type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('a poll without events returns a heartbeat for any event types, and polling continues from its ID', async () => {
  const { member, member2 } = await openRealm();
  const { queue_id, last_event_id } = await member.ok('POST', '/register', {
    event_types: ['alert_words'],
    fetch_event_types: [],
  });
  const poll = async (after: number): Promise<Json[]> =>
    (await member.ok('GET', '/events', { queue_id, last_event_id: after })).events;
  // Passes the queue, which does not show it.
  await member2.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content: 'x' });
  const [heartbeat, ...others] = await poll(last_event_id);
  expect([heartbeat, others]).toEqual([{ type: 'heartbeat', id: expect.any(Number) }, []]);
  expect(heartbeat?.id).toBeGreaterThan(last_event_id);
  await member.ok('POST', '/users/me/alert_words', { alert_words: ['tea'] });
  const [event] = await poll(heartbeat?.id);
  expect(event).toMatchObject({ type: 'alert_words', alert_words: ['tea'] });
  expect(event?.id).toBeGreaterThan(heartbeat?.id);
});
