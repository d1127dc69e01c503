import { type Client, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('clients with client_gravatar receive an avatar URL for users whose email they may not see', async () => {
  const realm = await openRealm();
  const { owner, member, member2, guest } = realm;
  const principals = [owner, member, member2, guest].map((who) => who.user_id);
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }], principals });
  const viewers = [owner, member2, guest, member];
  const seen = async (): Promise<Json[]> => {
    const queues = await Promise.all(viewers.map((who) => who.queue({ client_gravatar: true })));
    const { id } = await member.ok('POST', '/messages', { type: 'channel', to: 'open', topic: 'x', content: 'x' });
    const told = await Promise.all(queues.map((queue) => queue.next((event) => event.message?.id === id)));
    const read = async (who: Client, client_gravatar: boolean) =>
      (await who.ok('GET', '/messages', { message_ids: [id], client_gravatar })).messages[0].avatar_url;
    const asked = await Promise.all(viewers.map((who) => read(who, true)));
    expect(told.map((event) => event.message.avatar_url)).toEqual(asked);
    expect(await read(owner, false)).toEqual(expect.any(String));
    return asked.map((url) => url === null);
  };
  expect(await seen()).toEqual([true, true, true, true]);
  await member.ok('PATCH', '/settings', { email_address_visibility: 3 });
  expect(await seen()).toEqual([true, false, false, true]);
  await member.ok('PATCH', '/settings', { email_address_visibility: 2 });
  expect(await seen()).toEqual([true, true, false, true]);
  await member.ok('PATCH', '/settings', { email_address_visibility: 4 });
  expect(await seen()).toEqual([false, false, false, true]);
  await member.ok('PATCH', '/settings', { email_address_visibility: 1 });
  expect(await seen()).toEqual([true, true, true, true]);
});
