import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
/** Owns the bots of these tests. */
let person: Client;
let nobody: number;

let count = 0;
async function botOf(owner: Client): Promise<Client> {
  const short_name = `sender${++count}`;
  const full_name = `Sender ${count}`;
  const { user_id, api_key } = await owner.ok('POST', '/bots', { full_name, short_name });
  return new Client(realm.owner, { user_id, api_key, full_name, email: `${short_name}-bot@${realm.host}` });
}
const channelOf = async (form: Json): Promise<{ id: number; name: string }> => {
  const name = `channel ${++count}`;
  return { id: (await realm.owner.ok('POST', '/channels/create', { name, ...form })).id, name };
};
const only = (...people: Client[]) => ({ direct_members: people.map((who) => who.user_id), direct_subgroups: [] });
const post = (who: Client, to: number | string) =>
  who.post('/messages', { type: 'channel', to, topic: 't', content: 'x' });
const answer = ({ status, body }: { status: number; body: Json }) => [status, body.code];
const unknown = [400, 'STREAM_DOES_NOT_EXIST'];
const refused = [400, 'BAD_REQUEST'];

beforeAll(async () => {
  realm = await openRealm();
  person = realm.member;
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  nobody = user_groups.find(({ name }: Json) => name === 'role:nobody').id;
});

test('the permissions for direct messages do not limit bots', async () => {
  const { owner, member2 } = realm;
  const bot = await botOf(person);
  const tell = (who: Client) => who.post('/messages', { type: 'direct', to: [member2.user_id], content: 'x' });
  const later = Math.floor(Date.now() / 1000) + 3_600;
  const schedule = { type: 'direct', to: [member2.user_id], content: 'x', scheduled_delivery_timestamp: later };
  await owner.ok('PATCH', '/realm', { direct_message_initiator_group: { new: nobody } });
  expect(answer(await tell(person))).toEqual(refused);
  await bot.ok('POST', '/scheduled_messages', schedule);
  expect((await tell(bot)).status).toBe(200);
  await owner.ok('PATCH', '/realm', { direct_message_permission_group: { new: nobody } });
  expect(answer(await tell(person))).toEqual(refused);
  expect((await tell(bot)).status).toBe(200);
  await bot.ok('POST', '/scheduled_messages', schedule);
  expect((await owner.post('/messages', { type: 'direct', to: [bot.user_id], content: 'x' })).status).toBe(200);
});

describe('a bot posts to a private channel', () => {
  const isPrivate = { invite_only: true };
  test('by its own permission and the subscription of its owner', async () => {
    const bot = await botOf(person);
    const { id } = await channelOf({
      ...isPrivate,
      subscribers: [person.user_id],
      can_send_message_group: only(bot),
    });
    expect((await post(bot, id)).status).toBe(200);
    expect(answer(await post(person, id))).toEqual(refused);
    await person.ok('DELETE', '/users/me/subscriptions', {
      subscriptions: [(await realm.owner.ok('GET', `/streams/${id}`)).stream.name],
    });
    expect(answer(await post(bot, id))).toEqual(unknown);
  });
  test('by its own subscription and the permission of its owner', async () => {
    const bot = await botOf(person);
    const { id } = await channelOf({
      ...isPrivate,
      subscribers: [bot.user_id],
      can_send_message_group: only(person),
    });
    expect((await post(bot, id)).status).toBe(200);
    await realm.owner.ok('PATCH', `/streams/${id}`, { can_send_message_group: { new: only(realm.member2) } });
    expect(answer(await post(bot, id))).toEqual(refused);
  });
  test('not by the permission of its owner alone; the channel does not exist for it', async () => {
    const bot = await botOf(person);
    const { id } = await channelOf({
      ...isPrivate,
      subscribers: [realm.owner.user_id],
      can_send_message_group: only(person),
      can_subscribe_group: only(person),
    });
    const { body, status } = await post(bot, id);
    const missing = await post(bot, 9_999_999);
    expect([status, JSON.stringify(body).replaceAll(`${id}`, '9999999')]).toEqual([400, JSON.stringify(missing.body)]);
    expect((await post(person, id)).status).toBe(200);
  });
});
