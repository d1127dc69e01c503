import { Client, connected, type Json, noticesSent, openRealm, type Realm } from '@natter/testkit';
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

describe('a bot may post to a private channel', () => {
  const isPrivate = { invite_only: true };
  test('with its own permission and the subscription of its owner', async () => {
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
  test('with its own subscription and the permission of its owner', async () => {
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
  test('but not with only the permission of its owner, and gets the error of a missing channel', async () => {
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

describe('the owner of a bot is notified', () => {
  const told = async (who: Client, bot: Client): Promise<string[]> => {
    await noticesSent(realm.id);
    const { messages } = await who.ok('GET', '/messages', {
      anchor: 'newest',
      num_before: 100,
      num_after: 0,
      narrow: [{ operator: 'is', operand: 'dm' }],
      apply_markdown: false,
    });
    return messages.map((message: Json) => message.content).filter((content: string) => content.includes(bot.email));
  };
  const missing = (bot: Client, name: string) =>
    `Your bot \`${bot.email}\` tried to send a message to channel ${name}, but that channel does not exist. Click [here](#channels/new) to create it.`;
  const missingId = (bot: Client, id: number) =>
    `Your bot \`${bot.email}\` tried to send a message to channel ID ${id}, but there is no channel with that ID.`;
  const empty = (bot: Client, name: string) =>
    `Your bot \`${bot.email}\` tried to send a message to channel #**${name}**. The channel exists but does not have any subscribers.`;

  test('of a missing channel once, regardless of the number of messages', async () => {
    const [bot, other, large] = [await botOf(person), await botOf(person), await botOf(person)];
    for (let n = 0; n < 3; n++) expect(answer(await post(bot, 99_999))).toEqual(unknown);
    expect(answer(await post(bot, 'no such place'))).toEqual(unknown);
    expect(await told(person, bot)).toEqual([missingId(bot, 99_999)]);
    for (let n = 0; n < 2; n++) expect(answer(await post(other, 'no **such** place'))).toEqual(unknown);
    expect(await told(person, other)).toEqual([missing(other, '`no **such** place`')]);
    expect(answer(await post(large, 99_999_999_999))).toEqual(unknown);
    expect(await told(person, large)).toEqual([missingId(large, 99_999_999_999)]);
    expect(await told(realm.owner, bot)).toEqual([]);
  });
  test('again after five minutes', async () => {
    const bot = await botOf(person);
    await post(bot, 99_999);
    expect(await told(person, bot)).toHaveLength(1);
    const ago = (seconds: number) =>
      connected((client) =>
        client.query(
          `UPDATE messaging.owner_notice SET told_at = told_at - interval '${seconds} s' WHERE bot_id = ${bot.user_id}`,
        ),
      );
    await ago(200);
    await post(bot, 99_999);
    expect(await told(person, bot)).toHaveLength(1);
    await ago(101);
    await post(bot, 99_999);
    expect(await told(person, bot)).toHaveLength(2);
  });
  test('at most once if many messages arrive together', async () => {
    const bot = await botOf(person);
    await Promise.all(Array.from({ length: 8 }, (_, n) => post(bot, 99_990 + n)));
    expect(await told(person, bot)).toHaveLength(1);
  });
  test('of a channel without subscribers, and the message is still sent', async () => {
    const [bot, other] = [await botOf(person), await botOf(person)];
    const { id, name } = await channelOf({ subscribers: [] });
    expect((await post(bot, name)).status).toBe(200);
    expect(await told(person, bot)).toEqual([empty(bot, name)]);
    await realm.member2.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }] });
    expect((await post(other, id)).status).toBe(200);
    expect(await told(person, other)).toEqual([]);
  });
  test('of a channel that they may not see as of a missing one', async () => {
    const [one, two, three] = [await botOf(person), await botOf(person), await botOf(person)];
    const full = await channelOf({ invite_only: true, subscribers: [realm.owner.user_id] });
    const vacant = await channelOf({ invite_only: true, subscribers: [] });
    for (const [bot, to] of [
      [one, full.name],
      [two, vacant.name],
    ] as const) {
      expect(answer(await post(bot, to))).toEqual(unknown);
      expect(await told(person, bot)).toEqual([missing(bot, `**${to}**`)]);
    }
    expect(answer(await post(three, vacant.id))).toEqual(unknown);
    expect(await told(person, three)).toEqual([missingId(three, vacant.id)]);
  });
  test('of an empty private channel that they administer, but not of one with subscribers', async () => {
    const { owner } = realm;
    const [one, two] = [await botOf(owner), await botOf(owner)];
    const vacant = await channelOf({ invite_only: true, subscribers: [] });
    const full = await channelOf({ invite_only: true, subscribers: [realm.member2.user_id] });
    for (const [bot, to] of [
      [one, vacant],
      [two, full],
    ] as const)
      expect(answer(await post(bot, to.id))).toEqual(unknown);
    expect(await told(owner, one)).toEqual([empty(one, vacant.name)]);
    expect(await told(owner, two)).toEqual([]);
  });
  test('but a person who sends to a missing channel is not', async () => {
    const { member2 } = realm;
    expect(answer(await post(member2, 99_999))).toEqual(unknown);
    expect(await told(member2, member2)).toEqual([]);
  });
});
