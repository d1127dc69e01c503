import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
  await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }] });
  await realm.member2.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }] });
});

const send = async (): Promise<number> =>
  (await realm.member.ok('POST', '/messages', { type: 'channel', to: 'open', topic: 'x', content: 'hello' })).id;
const react = (who: Client, id: number, form: Json) => who.post(`/messages/${id}/reactions`, form);
const smile = { emoji_name: 'smile', emoji_code: '1f642', reaction_type: 'unicode_emoji' };

describe('a reaction', () => {
  test('sends events with its emoji and its user to all users who have the message', async () => {
    const id = await send();
    const queue = await realm.member2.queue({ event_types: ['reaction'] });
    expect((await react(realm.member, id, { emoji_name: 'smile' })).status).toBe(200);
    expect(await queue.next(({ op }) => op === 'add')).toMatchObject({
      type: 'reaction',
      op: 'add',
      message_id: id,
      ...smile,
      user_id: realm.member.user_id,
      user: { user_id: realm.member.user_id, email: realm.member.email, full_name: realm.member.full_name },
    });
    await realm.member.ok('DELETE', `/messages/${id}/reactions`, { emoji_name: 'smile' });
    expect(await queue.next(({ op }) => op === 'remove')).toMatchObject({ message_id: id, ...smile });
  });

  test('of a user without a subscription is sent to this user too', async () => {
    const { moderator } = realm;
    const id = await send();
    const queue = await moderator.queue({ event_types: ['reaction'] });
    const own = { message_id: id, user_id: moderator.user_id };
    expect((await react(moderator, id, smile)).status).toBe(200);
    expect(await queue.next(({ op }) => op === 'add')).toMatchObject(own);
    await moderator.ok('DELETE', `/messages/${id}/reactions`, smile);
    expect(await queue.next(({ op }) => op === 'remove')).toMatchObject(own);
  });

  test('can be added once per user and emoji, under any name of the emoji', async () => {
    const id = await send();
    const up = { emoji_name: '+1', emoji_code: '1f44d', reaction_type: 'unicode_emoji' };
    expect((await react(realm.member, id, { emoji_name: 'thumbs_up' })).status).toBe(200);
    for (const form of [{ emoji_name: '+1' }, { emoji_name: 'thumbs_up' }, up]) {
      const { status, body } = await react(realm.member, id, form);
      expect([status, body.code]).toEqual([400, 'REACTION_ALREADY_EXISTS']);
    }
    expect((await react(realm.member2, id, smile)).status).toBe(200);
    expect((await react(realm.member, id, { emoji_name: 'tada' })).status).toBe(200);
  });

  test('that was not added cannot be removed', async () => {
    const id = await send();
    const { status, body } = await realm.member.delete(`/messages/${id}/reactions`, smile);
    expect([status, body.code]).toEqual([400, 'REACTION_DOES_NOT_EXIST']);
  });

  test('can be removed by its code, but not without a name or a code', async () => {
    const id = await send();
    await react(realm.member, id, smile);
    expect((await realm.member.delete(`/messages/${id}/reactions`)).body.code).toBe('BAD_REQUEST');
    await realm.member.ok('DELETE', `/messages/${id}/reactions`, { emoji_code: '1f642' });
  });

  test.each<[string, Json]>([
    ['an unknown name', { emoji_name: 'no_such_emoji' }],
    ['an unknown code', { emoji_name: 'smile', emoji_code: 'ffffff' }],
    ['a name of another emoji', { emoji_name: 'tada', emoji_code: '1f642' }],
    ['an unknown type', { ...smile, reaction_type: 'drawing' }],
    ['a custom emoji that is not there', { emoji_name: 'own', emoji_code: '99', reaction_type: 'realm_emoji' }],
  ])('with %s is rejected', async (_, form) => {
    const { status, body } = await react(realm.member, await send(), form);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('may use the extra emoji', async () => {
    const form = { emoji_name: 'zulip', emoji_code: 'zulip', reaction_type: 'zulip_extra_emoji' };
    expect((await react(realm.member, await send(), form)).status).toBe(200);
  });

  test.each([
    ['cat', '1f408'],
    ['dog', '1f415'],
    ['kitten', '1f431'],
    ['division', '2797'],
    ['info', '2139'],
    ['up', '2b06'],
    ['holiday_tree', '1f384'],
    ['flag_germany', '1f1e9-1f1ea'],
    ['eye_in_speech_bubble', '1f441-200d-1f5e8'],
    ['family_man_woman_girl_boy', '1f468-200d-1f469-200d-1f467-200d-1f466'],
    ['brown_mushroom', '1f344-200d-1f7eb'],
    ['piñata', '1fa85'],
  ])('with %s has the code %s, which can be given with variation selectors', async (emoji_name, emoji_code) => {
    const id = await send();
    const reactions = async () => {
      const { message } = await realm.member.ok('GET', `/messages/${id}`);
      return message.reactions.map((reaction: Json) => [reaction.emoji_name, reaction.emoji_code]);
    };
    expect((await react(realm.member, id, { emoji_name })).status).toBe(200);
    expect(await reactions()).toEqual([[emoji_name, emoji_code]]);
    const qualified = emoji_code.replace('-', '-fe0f-');
    const form = { emoji_name, emoji_code: qualified, reaction_type: 'unicode_emoji' };
    expect((await react(realm.member, id, form)).body.code).toBe('REACTION_ALREADY_EXISTS');
    await realm.member.ok('DELETE', `/messages/${id}/reactions`, { emoji_code: qualified });
    expect(await reactions()).toEqual([]);
  });

  test('to a message that the user may not read returns the same error as for a missing one', async () => {
    const form = { type: 'direct', to: [realm.administrator.user_id], content: 'secret' };
    const { id } = await realm.owner.ok('POST', '/messages', form);
    expect((await react(realm.member, id, smile)).body).toEqual((await react(realm.member, 99_999_999, smile)).body);
  });
});

describe('a submessage', () => {
  test('is sent to all users who have the message', async () => {
    const id = await send();
    const queue = await realm.member2.queue({ event_types: ['submessage'] });
    const content = '{"widget_type":"poll"}';
    await realm.member.ok('POST', '/submessage', { message_id: id, msg_type: 'widget', content });
    expect(await queue.next(() => true)).toMatchObject({
      type: 'submessage',
      message_id: id,
      msg_type: 'widget',
      content,
      sender_id: realm.member.user_id,
      submessage_id: expect.any(Number),
    });
  });

  test('without a subscription is told to its user', async () => {
    const id = await send();
    const queue = await realm.moderator.queue({ event_types: ['submessage'] });
    const add = (who: Client) => who.ok('POST', '/submessage', { message_id: id, msg_type: 'widget', content: '{}' });
    await add(realm.member);
    await add(realm.moderator);
    const { user_id } = realm.moderator;
    expect(await queue.next(() => true)).toMatchObject({ message_id: id, sender_id: user_id });
  });

  test('may be of any type, and of a widget only if its type is `widget`', async () => {
    const id = await send();
    const queue = await realm.member2.queue({ event_types: ['submessage'] });
    const add = (msg_type: string, content: string, who = realm.member) =>
      who.post('/submessage', { message_id: id, msg_type, content });
    const sent = { msg_type: 'whatever', content: '{"widget_type": "poll"}', sender_id: realm.member.user_id };
    expect((await add(sent.msg_type, sent.content)).status).toBe(200);
    expect(await queue.next(() => true)).toMatchObject({ ...sent, message_id: id });
    expect((await realm.member2.ok('GET', `/messages/${id}`)).message.submessages).toMatchObject([sent]);
    expect((await add('widget', '{"type": "dance"}', realm.member2)).status).toBe(200);
  });

  test('of another user requires an earlier one and must be JSON', async () => {
    const id = await send();
    const add = (who: Client, form: object) => who.post('/submessage', { message_id: id, msg_type: 'widget', ...form });
    expect((await add(realm.member2, { content: '{}' })).status).toBe(400);
    expect((await add(realm.member, { content: '{' })).status).toBe(400);
    expect((await add(realm.member, { content: '{}' })).status).toBe(200);
    expect((await add(realm.member2, { content: '{}' })).status).toBe(200);
  });
});

test('an edit without a subscription is told to its user', async () => {
  const { moderator } = realm;
  const { id } = await moderator.ok('POST', '/messages', { type: 'channel', to: 'open', topic: 'x', content: 'a' });
  const queue = await moderator.queue({ event_types: ['update_message'] });
  await moderator.ok('PATCH', `/messages/${id}`, { content: 'b' });
  expect(await queue.next(() => true)).toMatchObject({ message_id: id, content: 'b' });
});
