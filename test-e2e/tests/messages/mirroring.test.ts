import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
/** Belongs to a member; the owner granted it the right to send in the name of others. */
let mirror: Client;
/** A bot without the right to send in the name of others. */
let plain: Client;

const bad = [400, 'BAD_REQUEST'];
const refused = ({ status, body }: Json): Json => [status, body.code];
const unauthorized = [400, 'User not authorized for this query'];
const invalid = [400, 'Invalid mirrored message'];
const refusal = ({ status, body }: Json): Json => [status, body.msg];
const seen = async (who: Client, id: number): Promise<Json> => (await who.ok('GET', `/messages/${id}`)).message;
const toTalk = (content: string, form: Json = {}): Json => ({
  type: 'channel',
  to: 'talk',
  topic: 'mirrored',
  content,
  ...form,
});

let count = 0;
async function botOf(owner: Client): Promise<Client> {
  const short_name = `mirror${++count}`;
  const full_name = `Mirror ${count}`;
  const { user_id, api_key } = await owner.ok('POST', '/bots', { full_name, short_name });
  return new Client(realm.owner, { user_id, api_key, full_name, email: `${short_name}-bot@${realm.host}` });
}
const grant = (who: Client, bot: Client, can_forge_sender: unknown) =>
  who.patch(`/users/${bot.user_id}`, { can_forge_sender });

beforeAll(async () => {
  realm = await openRealm();
  const { owner, member, member2 } = realm;
  [mirror, plain] = [await botOf(member), await botOf(member)];
  const principals = [owner, member, member2, mirror, plain].map(({ user_id }) => user_id);
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'talk' }], principals });
  expect((await grant(owner, mirror, true)).status).toBe(200);
});

test('a mirrored message has the given sender and time when it is read and in events', async () => {
  const { member2, owner } = realm;
  const queue = await owner.queue({ event_types: ['message'] });
  const time = 1_500_000_000.5;
  const { id } = await mirror.ok(
    'POST',
    '/messages',
    toTalk('from elsewhere', { sender: member2.email.toUpperCase(), forged: 'yes', time }),
  );
  const shown = {
    sender_id: member2.user_id,
    sender_email: member2.email,
    sender_full_name: member2.full_name,
    timestamp: 1_500_000_000,
  };
  expect((await queue.next((event) => event.message?.id === id)).message).toMatchObject(shown);
  expect(await seen(owner, id)).toMatchObject(shown);
  const { message_history } = await owner.ok('GET', `/messages/${id}/history`);
  expect(message_history[0]).toMatchObject({ user_id: member2.user_id, timestamp: 1_500_000_000 });
  // Without `forged` the time has no effect, and with it the sender may be omitted.
  const now = await mirror.ok('POST', '/messages', toTalk('now', { sender: member2.email, time }));
  expect((await seen(owner, now.id)).timestamp).toBeGreaterThan(1_700_000_000);
  const own = await mirror.ok('POST', '/messages', toTalk('own', { forged: true, time }));
  expect(await seen(owner, own.id)).toMatchObject({ sender_id: mirror.user_id, timestamp: 1_500_000_000 });
});

test('the given sender can edit and delete a mirrored message, but the bot that sent it cannot', async () => {
  const { member2 } = realm;
  const { id } = await mirror.ok(
    'POST',
    '/messages',
    toTalk('typo', { sender: member2.email, forged: 'yes', time: 1_000 }),
  );
  expect(refused(await mirror.patch(`/messages/${id}`, { content: 'by the bot' }))).toEqual(bad);
  expect(refused(await mirror.delete(`/messages/${id}`))).toEqual(bad);
  // Limits of time count from the arrival, not from the stated time.
  await realm.owner.ok('PATCH', '/realm', { message_content_edit_limit_seconds: 3_600 });
  await member2.ok('PATCH', `/messages/${id}`, { content: 'corrected' });
  expect(await seen(member2, id)).toMatchObject({ content: '<p>corrected</p>', timestamp: 1_000 });
});

test('a user without the right cannot set a sender or a time, regardless of their role', async () => {
  const { owner, administrator, member, member2 } = realm;
  for (const who of [owner, administrator, member, plain])
    for (const form of [
      { sender: member2.email },
      { sender: who.email },
      { sender: '' },
      { forged: 'yes' },
      { forged: true, time: 5 },
      { sender: owner.email, forged: 'no' },
    ])
      expect([form, ...refusal(await who.post('/messages', toTalk('forged', form)))]).toEqual([form, ...unauthorized]);
  const direct = { type: 'direct', to: [member2.user_id], content: 'forged', sender: owner.email };
  expect(refusal(await plain.post('/messages', direct))).toEqual(unauthorized);
  // Texts other than `yes` and `true` state nothing, as does a time alone.
  const { id } = await plain.ok('POST', '/messages', toTalk('honest', { forged: 'perhaps', time: 5 }));
  expect(await seen(owner, id)).toMatchObject({ sender_id: plain.user_id });
  expect((await seen(owner, id)).timestamp).toBeGreaterThan(1_700_000_000);
});

test('an unknown, deactivated or foreign sender and a system bot as sender are rejected', async () => {
  const other = await openRealm();
  const gone = await realm.person();
  await realm.owner.ok('DELETE', `/users/${gone.user_id}`);
  for (const sender of ['nobody@example.com', gone.email, other.owner.email, `${realm.member.user_id}`, '', ' '])
    expect([sender, ...refusal(await mirror.post('/messages', toTalk('x', { sender })))]).toEqual([sender, ...invalid]);
  const bots = (await realm.owner.ok('POST', '/register', { fetch_event_types: ['realm_user'] })).cross_realm_bots;
  expect(bots.length).toBeGreaterThan(0);
  for (const { email } of bots)
    expect(refusal(await mirror.post('/messages', toTalk('x', { sender: email })))).toEqual(invalid);
});

test('a time in the future or before 1970 is rejected', async () => {
  const soon = Math.floor(Date.now() / 1000) + 3_600;
  for (const time of [soon, 1e11, 1e15, -1, 'yesterday', [1], '1e999', 'NaN'])
    expect([time, (await mirror.post('/messages', toTalk('x', { forged: 'yes', time }))).status]).toEqual([time, 400]);
  const { id } = await mirror.ok('POST', '/messages', toTalk('zero', { forged: 'yes', time: 0 }));
  expect((await seen(realm.owner, id)).timestamp).toBe(0);
});

test('messages are ordered by their arrival, regardless of the given times', async () => {
  const { owner, member2 } = realm;
  const topic = 'order';
  const ids: number[] = [];
  for (const time of [3_000, 1_000, undefined, 2_000]) {
    const form = time === undefined ? {} : { forged: 'yes', time };
    ids.push(
      (await mirror.ok('POST', '/messages', { ...toTalk(`at ${time}`, { sender: member2.email, ...form }), topic })).id,
    );
  }
  const narrow = [{ operator: 'topic', operand: topic }];
  const page = await owner.ok('GET', '/messages', { anchor: 'oldest', num_before: 0, num_after: 10, narrow });
  expect(page.messages.map((message: Json) => message.id)).toEqual(ids);
  // The anchor of a date is decided by the arrival too: nothing of this topic is older than its realm.
  const since = await owner.ok('GET', '/messages', {
    anchor: 'date',
    anchor_date: '2020-01-01T00:00:00Z',
    num_before: 10,
    num_after: 10,
    narrow,
  });
  expect(since.anchor).toBe(ids[0]);
});

test('a direct message can be mirrored only if the bot is a participant', async () => {
  const { member, member2, owner } = realm;
  const to = [owner.user_id];
  const form = { type: 'direct', content: 'psst', sender: member2.email };
  expect(refusal(await mirror.post('/messages', { ...form, to }))).toEqual(unauthorized);
  const { id } = await mirror.ok('POST', '/messages', { ...form, to: [owner.user_id, mirror.user_id] });
  const message = await seen(owner, id);
  expect(message.sender_id).toBe(member2.user_id);
  expect(message.display_recipient.map((one: Json) => one.id).sort()).toEqual(
    [owner.user_id, member2.user_id, mirror.user_id].sort(),
  );
  expect((await member.get(`/messages/${id}`)).status).toBe(400);
});

test('a mirrored message is limited to channels of the bot, and does not change preferences of its sender', async () => {
  const { owner, member2 } = realm;
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'secret' }], invite_only: true });
  const secret = await mirror.post('/messages', { ...toTalk('x', { sender: owner.email }), to: 'secret' });
  expect(refused(secret)).toEqual([400, 'STREAM_DOES_NOT_EXIST']);
  const streams = (await owner.ok('GET', '/streams')).streams;
  const talk = streams.find((stream: Json) => stream.name === 'talk').stream_id;
  const groups = (await owner.ok('GET', '/user_groups')).user_groups;
  const admins = groups.find((group: Json) => group.name === 'role:administrators').id;
  await owner.ok('PATCH', `/streams/${talk}`, { can_send_message_group: { new: admins } });
  const closed = await mirror.post('/messages', toTalk('x', { sender: owner.email }));
  const everyone = groups.find((group: Json) => group.name === 'role:everyone').id;
  await owner.ok('PATCH', `/streams/${talk}`, { can_send_message_group: { new: everyone } });
  expect(refused(closed)).toEqual(bad);
  // The named sender's own preferences and flags do not change as if they had written it.
  const queue = await member2.queue({ event_types: ['message', 'user_topic'] });
  const form = { sender: member2.email, topic: 'never touched' };
  const { id, ...rest } = await mirror.ok('POST', '/messages', toTalk('unread', form));
  expect(rest).not.toHaveProperty('automatic_new_visibility_policy');
  const events = await queue.settle();
  const sent = events.find((event) => event.message?.id === id);
  expect(sent).toMatchObject({ flags: expect.not.arrayContaining(['read']) });
  expect(events.filter(({ type }) => type === 'user_topic')).toEqual([]);
});

test('mentions and emoticons in a mirrored message are processed as those of the given sender', async () => {
  const { member2 } = realm;
  await member2.ok('PATCH', '/settings', { translate_emoticons: true });
  const queue = await member2.queue({ event_types: ['message', 'user_topic'] });
  const ofBot = await mirror.queue({ event_types: ['message'] });
  const content = `@**topic** @**${member2.full_name}** :)`;
  const form = { sender: member2.email, topic: 'all of us' };
  const { id } = await mirror.ok('POST', '/messages', toTalk(content, form));
  const isSent = (event: Json): boolean => event.message?.id === id;
  const events = await queue.settle();
  expect(events.find(isSent)?.flags).toEqual(expect.arrayContaining(['topic_wildcard_mentioned', 'mentioned']));
  expect((await ofBot.next(isSent)).flags).not.toContain('topic_wildcard_mentioned');
  expect((await seen(member2, id)).content).toContain('emoji');
  // A user who mentions themself follows no topic by it.
  expect(events.filter(({ type }) => type === 'user_topic')).toEqual([]);
});

test('only owners can grant the right, only to bots, and revoking it applies at once', async () => {
  const { owner, administrator, moderator, member, member2 } = realm;
  const bot = await botOf(member);
  const send = async (): Promise<Json> =>
    refusal(await bot.post('/messages', { type: 'direct', to: [bot.user_id], content: 'x', sender: member2.email }));
  for (const who of [administrator, moderator, member, bot, mirror])
    expect(refused(await grant(who, bot, true))).toEqual(bad);
  for (const who of [administrator, member]) expect(refused(await grant(who, mirror, false))).toEqual(bad);
  expect(await send()).toEqual(unauthorized);
  for (const who of [owner, administrator, member]) expect(refused(await grant(owner, who, true))).toEqual(bad);
  for (const wrong of ['maybe', 1, null]) expect(refused(await grant(owner, bot, wrong))).toEqual(bad);
  await owner.ok('PATCH', `/users/${bot.user_id}`, { can_forge_sender: true });
  expect(await send()).toEqual([200, '']);
  await owner.ok('PATCH', `/users/${bot.user_id}`, { can_forge_sender: false });
  expect(await send()).toEqual(unauthorized);
});

test('only its owner and owners of the organization can take over a bot with the right', async () => {
  const { owner, administrator, member, member2 } = realm;
  const bot = await botOf(member);
  const at = `/bots/${bot.user_id}`;
  // An administrator has read the key before.
  const known = new Client(realm.owner, { ...bot, api_key: (await administrator.ok('GET', `${at}/api_key`)).api_key });
  expect((await known.get('/users/me')).status).toBe(200);
  await owner.ok('PATCH', `/users/${bot.user_id}`, { can_forge_sender: true });
  expect((await known.get('/users/me')).status).toBe(401);
  for (const attempt of [
    administrator.get(`${at}/api_key`),
    administrator.post(`${at}/api_key/regenerate`),
    administrator.patch(at, { bot_owner_id: administrator.user_id }),
    administrator.patch(at, { full_name: 'Taken Over' }),
    administrator.delete(at),
  ])
    expect(refused(await attempt)).toEqual(bad);
  const { api_key } = await member.ok('GET', `${at}/api_key`);
  const mine = new Client(realm.owner, { ...bot, api_key });
  const form = { type: 'direct', to: [bot.user_id], content: 'x', sender: member2.email };
  expect((await mine.post('/messages', form)).status).toBe(200);
  // A bot that moves to another owner loses the right.
  await member.ok('PATCH', at, { bot_owner_id: member2.user_id });
  const moved = new Client(realm.owner, { ...bot, api_key: (await member2.ok('GET', `${at}/api_key`)).api_key });
  expect(refusal(await moved.post('/messages', form))).toEqual(unauthorized);
});

test('the right ends when the owner of the bot is demoted or deactivated, and is not restored with them', async () => {
  const { owner, member2 } = realm;
  const form = (bot: Client): Json => ({ type: 'direct', to: [bot.user_id], content: 'x', sender: member2.email });
  const granted = async (of: Client): Promise<Client> => {
    const bot = await botOf(of);
    await owner.ok('PATCH', `/users/${bot.user_id}`, { can_forge_sender: true });
    expect((await bot.post('/messages', form(bot))).status).toBe(200);
    return bot;
  };
  const send = async (of: Client, bot: Client): Promise<Json> => {
    const { api_key } = await of.ok('GET', `/bots/${bot.user_id}/api_key`);
    return refusal(await new Client(realm.owner, { ...bot, api_key }).post('/messages', form(bot)));
  };
  const person = await realm.person({ role: 'owner' });
  const [first, second] = [await granted(person), await granted(person)];
  const queue = await person.queue({ event_types: ['realm_user'] });
  // A deactivated bot loses it as well.
  await person.ok('DELETE', `/bots/${second.user_id}`);
  await owner.ok('PATCH', `/users/${person.user_id}`, { role: 200 });
  await queue.next((event) => event.person?.user_id === person.user_id && event.person.role === 200);
  expect(await send(person, first)).toEqual(unauthorized);
  await owner.ok('PATCH', `/users/${person.user_id}`, { role: 100 });
  await owner.ok('POST', `/users/${second.user_id}/reactivate`);
  expect([await send(person, first), await send(person, second)]).toEqual([unauthorized, unauthorized]);
  // A promotion keeps it.
  const member = await realm.person();
  const third = await granted(member);
  await owner.ok('PATCH', `/users/${member.user_id}`, { role: 300 });
  expect(await send(member, third)).toEqual([200, '']);
  await owner.ok('DELETE', `/users/${member.user_id}`);
  for (const { user_id } of [member, third]) await owner.ok('POST', `/users/${user_id}/reactivate`);
  expect(await send(owner, third)).toEqual(unauthorized);
});

test('mirroring a concurrently deactivated sender either succeeds before or is rejected', async () => {
  for (let round = 0; round < 5; round++) {
    const person = await realm.person();
    const before = await mirror.ok('POST', '/messages', toTalk('first', { sender: person.email }));
    const sends = Array.from({ length: 6 }, () => mirror.post('/messages', toTalk('race', { sender: person.email })));
    const [ended, ...answers] = await Promise.all([realm.owner.delete(`/users/${person.user_id}`), ...sends]);
    expect(ended.status).toBe(200);
    for (const answer of answers) if (answer.status !== 200) expect(refusal(answer)).toEqual(invalid);
    expect(refusal(await mirror.post('/messages', toTalk('late', { sender: person.email })))).toEqual(invalid);
    expect((await seen(realm.owner, before.id)).sender_id).toBe(person.user_id);
  }
});
