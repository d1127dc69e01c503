import { type Client, connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
  const principals = [realm.owner.user_id, realm.member.user_id, realm.member2.user_id];
  await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'noise' }], principals });
});

const say = async (who: Client): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to: 'noise', topic: 't', content: 'x' })).id;
const tell = async (who: Client, to: Client): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'direct', to: [to.user_id], content: 'x' })).id;
const mute = (who: Client, whom: Client) => who.ok('POST', `/users/me/muted_users/${whom.user_id}`);
const unmute = (who: Client, whom: Client) => who.ok('DELETE', `/users/me/muted_users/${whom.user_id}`);
const unreadOf = async (who: Client): Promise<number[]> => {
  const { unread_msgs } = await who.ok('POST', '/register', { fetch_event_types: ['message', 'update_message_flags'] });
  const { streams, pms, huddles } = unread_msgs;
  return [...streams, ...pms, ...huddles].flatMap((one: Json) => one.unread_message_ids);
};

test('muting a user marks their messages as read, only for the user who mutes (4.19)', async () => {
  const { owner, member, member2 } = realm;
  const existing = [await say(member2), await tell(member2, member)].sort((a, b) => a - b);
  const other = await say(owner);
  const queue = await member.queue({ event_types: ['update_message_flags'] });
  await mute(member, member2);
  const event = await queue.next(() => true);
  expect(event).toMatchObject({ op: 'add', flag: 'read', all: false, messages: existing });
  const unread = await unreadOf(member);
  expect(unread).toContain(other);
  expect(unread.filter((id) => existing.includes(id))).toEqual([]);
  expect(await unreadOf(owner)).toContain(existing[0]);
  await unmute(member, member2);
});

test('messages after the response to a mute arrive as read, and after the response to an unmute as unread (4.19)', async () => {
  const { member, member2 } = realm;
  const queue = await member.queue({ event_types: ['message'] });
  const sent = new Map<number, boolean>();
  for (let round = 0; round < 10; round++) {
    await mute(member, member2);
    sent.set(await tell(member2, member), true);
    await unmute(member, member2);
    sent.set(await say(member2), false);
  }
  await queue.settle();
  const arrived = queue.seen
    .filter(({ message }) => sent.has(message.id))
    .map(({ message, flags }): [number, boolean] => [message.id, flags.includes('read')]);
  expect(arrived).toEqual([...sent]);
});

test('a message after an unmute stays unread, and those before it become read, if messaging handles the mute later', async () => {
  const { owner, member, member2 } = realm;
  await mute(member, owner);
  const sent: number[] = [];
  await connected(async (holder) => {
    await holder.query('BEGIN');
    const position = `SELECT FROM messaging.consumer WHERE realm_id = $1 AND name = 'periods' FOR UPDATE`;
    await holder.query(position, [realm.id]);
    sent.push(await tell(member2, member));
    await mute(member, member2);
    sent.push(await tell(member2, member));
    // These changes concern other people, so they do not end the mute.
    await unmute(member, owner);
    await mute(owner, member);
    sent.push(await tell(member2, member));
    await unmute(member, member2);
    sent.push(await tell(member2, member));
    await holder.query('COMMIT');
  });
  const unread = await unreadOf(member);
  expect(sent.map((id) => unread.includes(id))).toEqual([false, false, false, true]);
  await unmute(owner, member);
});
