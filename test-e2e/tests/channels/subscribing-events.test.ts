import type { Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { channel, freshName, nameOf, openQuietRealm, streamOf } from './setting.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openQuietRealm();
});

describe('subscribing', () => {
  test('sends subscription/add with all fields to the subscriber, and peer_add to others for a public channel', async () => {
    const { member, member2, guest } = realm;
    const id = await channel(member, [member]);
    const types = {
      event_types: ['subscription', 'stream'],
      client_capabilities: { notification_settings_null: true },
    };
    const [own, peer, stranger] = [
      await member2.queue(types),
      await realm.moderator.queue(types),
      await guest.queue(types),
    ];
    const name = await nameOf(member, id);
    await member2.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name, color: '#1aF' }] });
    const added = await own.next((event) => event.op === 'add');
    const users = [member.user_id, member2.user_id];
    expect(added.subscriptions).toEqual([
      {
        ...(await streamOf(member, id)),
        subscribers: users,
        subscriber_count: 2,
        color: '#11aaff',
        is_muted: false,
        in_home_view: true,
        pin_to_top: false,
        desktop_notifications: null,
        email_notifications: null,
        push_notifications: null,
        audible_notifications: null,
        wildcard_mentions_notify: null,
      },
    ]);
    expect(await peer.next((event) => event.op === 'peer_add')).toMatchObject({
      stream_ids: [id],
      user_ids: [member2.user_id],
    });
    expect(own.seen.filter((event) => event.op === 'peer_add')).toEqual([]);
    expect(stranger.seen).toEqual([]);
  });

  test('sends booleans to clients without notification_settings_null', async () => {
    const id = await channel(realm.member);
    const queue = await realm.member2.queue({ event_types: ['subscription'] });
    await realm.member2.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: await nameOf(realm.member, id) }],
    });
    const { subscriptions } = await queue.next((event) => event.op === 'add');
    expect(subscriptions[0]).toMatchObject({ desktop_notifications: false, wildcard_mentions_notify: true });
    const { subscriptions: fresh } = await realm.member2.ok('POST', '/register', {
      fetch_event_types: ['subscription'],
    });
    expect(fresh.find(({ stream_id }: { stream_id: number }) => stream_id === id)).toMatchObject({
      push_notifications: false,
      wildcard_mentions_notify: true,
    });
  });

  test('sends stream/create before subscription/add to a user whom another user adds to a private channel', async () => {
    const queue = await realm.guest.queue({ event_types: ['subscription', 'stream'] });
    const id = await channel(realm.member, [realm.member], { invite_only: true });
    const name = await nameOf(realm.member, id);
    await realm.member.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: [realm.guest.user_id],
    });
    await queue.next((event) => event.op === 'add');
    expect(queue.seen.slice(0, 2).map(({ type, op }) => `${type}/${op}`)).toEqual([
      'stream/create',
      'subscription/add',
    ]);
    expect(queue.seen[0].streams[0]).toMatchObject({ stream_id: id, name, invite_only: true });
  });

  test('sends one peer_add for several users and several channels', async () => {
    const ids = [await channel(realm.member), await channel(realm.member), await channel(realm.member)];
    const names = await Promise.all(ids.map((id) => nameOf(realm.member, id)));
    const queue = await realm.moderator.queue({ event_types: ['subscription'] });
    await realm.owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: names.map((name) => ({ name })),
      principals: [realm.member.user_id, realm.member2.user_id],
    });
    await queue.next((event) => event.op === 'peer_add');
    expect(queue.seen).toMatchObject([{ stream_ids: ids, user_ids: [realm.member.user_id, realm.member2.user_id] }]);
  });

  test('assigns each colour of the palette once before it repeats one', async () => {
    const person = await realm.person();
    const names = Array.from({ length: 25 }, freshName);
    await person.ok('POST', '/users/me/subscriptions', { subscriptions: names.map((name) => ({ name })) });
    const { subscriptions } = await person.ok('GET', '/users/me/subscriptions');
    const colors = subscriptions.map(({ color }: { color: string }) => color);
    expect(new Set(colors).size).toBe(24);
    expect(colors.every((color: string) => /^#[0-9a-f]{6}$/.test(color))).toBe(true);
  });
});
