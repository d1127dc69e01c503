import { type Client, connected, type Json } from '@natter/testkit';
import { expect, test } from 'vitest';
import { channel, nameOf, openQuietRealm } from './setting.ts';

test('the partial list of a channel with 250 or more subscribers contains the recently active ones', async () => {
  const realm = await openQuietRealm();
  const { owner, member, member2, moderator } = realm;
  const people: Client[] = [];
  for (let from = 0; from < 248; from += 31)
    people.push(...(await Promise.all(Array.from({ length: 31 }, () => realm.person()))));
  const id = await channel(owner, [...people, member]);
  const listed = async (who: Client, include_subscribers: string) => {
    const state = await who.ok('POST', '/register', { fetch_event_types: ['subscription'], include_subscribers });
    const one = [...state.subscriptions, ...state.never_subscribed].find(({ stream_id }: Json) => stream_id === id);
    return [one.subscribers, one.partial_subscribers];
  };
  const all = [...people, member].map(({ user_id }) => user_id).sort((a, b) => a - b);
  expect(await listed(member2, 'partial')).toEqual([all, undefined]);
  const name = await nameOf(owner, id);
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals: [member2.user_id] });
  const whole = [...all, member2.user_id].sort((a, b) => a - b);
  expect(await listed(member2, 'true')).toEqual([whole, undefined]);
  expect(await listed(member2, 'false')).toEqual([undefined, undefined]);
  const writer = people[100] as Client;
  await writer.ok('POST', '/messages', { type: 'channel', to: id, topic: 'here', content: 'I am here' });
  // Most users were never active; active ones are all listed.
  const active = [undefined, expect.arrayContaining([writer.user_id, member2.user_id])];
  await expect.poll(() => listed(moderator, 'partial')).toEqual(active);
  const [, partial] = await listed(moderator, 'partial');
  expect(partial.length).toBeLessThan(20);
  expect(whole).toEqual(expect.arrayContaining(partial));
});

test('large channels are listed in part if all channels together have more than a million subscribers', async () => {
  const { owner, member } = await openQuietRealm();
  const [large, small] = [await channel(owner, [member]), await channel(owner, [member])];
  await connected((client) =>
    client.query('UPDATE channels.channel SET subscriber_count = 1000000 WHERE id = $1', [large]),
  );
  const listed = async () => {
    const { subscriptions } = await member.ok('GET', '/users/me/subscriptions', { include_subscribers: 'true' });
    return [large, small].map((id) => {
      const { subscribers, partial_subscribers } = subscriptions.find(({ stream_id }: Json) => stream_id === id);
      return [Array.isArray(subscribers), Array.isArray(partial_subscribers)];
    });
  };
  const [whole, partial] = [
    [true, false],
    [false, true],
  ];
  expect(await listed()).toEqual([partial, whole]);
  await connected((client) =>
    client.query('UPDATE channels.channel SET subscriber_count = 900000 WHERE id = $1', [large]),
  );
  expect(await listed()).toEqual([whole, whole]);
});
