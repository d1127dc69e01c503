import { openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('the effect of a completed request is visible to the next request to any service', async () => {
  const { owner, member } = await openRealm();
  for (let round = 0; round < 20; round++) {
    const account = { email: `new${round}@example.com`, full_name: `New ${round}`, password: 'correct horse battery' };
    const { user_id } = await owner.ok('POST', '/users', account);
    // Owned by messaging, then by channels.
    const sent = await member.post('/messages', { type: 'direct', to: [user_id], content: 'welcome' });
    expect([round, sent.status, sent.body.msg]).toEqual([round, 200, '']);
    const joined = await owner.post('/users/me/subscriptions', {
      subscriptions: [{ name: `channel ${round}` }],
      principals: [user_id],
    });
    expect([round, joined.status, joined.body.msg]).toEqual([round, 200, '']);
    const { body } = await owner.post('/register', { fetch_event_types: ['stream', 'realm_user'] });
    expect(body.streams.map((stream: { name: string }) => stream.name)).toContain(`channel ${round}`);
  }
});
