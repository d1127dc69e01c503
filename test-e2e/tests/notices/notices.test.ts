import { type Client, type Json, noticesSent, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const isFrom = (bot: string) => (event: Json) => event.type === 'message' && event.message.sender_full_name === bot;
const isNotice = isFrom('Notification Bot');

test('a new user is welcomed once, before their first request', async () => {
  const queue = await realm.owner.queue({ event_types: ['message'] });
  const person = await realm.person();
  const theirs = await person.queue({ event_types: ['message'] });
  expect(theirs.state.max_message_id ?? 1).toBeGreaterThan(0);
  // Messages sent before the register are not delivered as events after it.
  expect((await theirs.settle()).filter(isFrom('Welcome Bot'))).toEqual([]);
  expect((await queue.settle()).filter(isFrom('Welcome Bot'))).toEqual([]);
  const { messages } = (await person.get('/messages', { anchor: 'newest', num_before: 10, num_after: 0 })).body;
  if (messages) expect(messages.filter((message: Json) => message.sender_full_name === 'Welcome Bot')).toHaveLength(1);
});

test('a new channel starts with a notice about its creator in the topic "channel events"', async () => {
  const queue = await realm.member.queue();
  await realm.member.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'gardening', description: 'Roses and *beans*' }],
  });
  const { message } = await queue.next(isNotice);
  expect(message).toMatchObject({ type: 'stream', display_recipient: 'gardening', subject: 'channel events' });
  expect(message.content).toContain(realm.member.full_name);
  expect(message.content).toContain('Roses and');
});

test('a new private channel also starts with a notice, which only its subscribers see', async () => {
  const [mine, other] = [await realm.member.queue(), await realm.owner.queue()];
  await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'hidden' }], invite_only: true });
  expect((await mine.next(isNotice)).message.display_recipient).toBe('hidden');
  expect((await other.settle()).filter(isNotice)).toEqual([]);
});

describe('a user who is subscribed by another user', () => {
  const create = (name: string) => realm.owner.ok('POST', '/channels/create', { name, subscribers: [] });

  test('receives a direct message that names the other user', async () => {
    const queue = await realm.member2.queue();
    await create('cooking');
    await realm.member.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'cooking' }],
      principals: [realm.member.user_id, realm.member2.user_id],
    });
    const isDirect = (event: Json) => isNotice(event) && event.message.type === 'private';
    const { message } = await queue.next(isDirect);
    expect(message.content).toContain('cooking');
    expect(message.content).toContain(realm.member.full_name);
    const mine = await realm.member.queue();
    expect((await mine.settle()).filter(isDirect)).toEqual([]);
  });

  test('receives one direct message about several channels by name, with only those that are new to them', async () => {
    const { owner, member, member2 } = realm;
    const subscribe = (names: string[], people: Client[]) =>
      owner.ok('POST', '/users/me/subscriptions', {
        subscriptions: names.map((name) => ({ name })),
        principals: people.map(({ user_id }) => user_id),
      });
    const before = await member.queue();
    await Promise.all(['kept', 'fresh'].map(create));
    await subscribe(['kept'], [member]);
    await before.next(
      (event) => isNotice(event) && event.message.content.includes('kept') && event.message.type === 'private',
    );
    const queues = await Promise.all([member.queue(), member2.queue()]);
    await subscribe(['kept', 'fresh'], [member, member2]);
    const told: string[][] = [];
    for (const queue of queues) {
      const isTold = (event: Json) => isNotice(event) && event.message.type === 'private';
      await queue.next(isTold);
      await queue.settle();
      told.push(queue.seen.filter(isTold).map(({ message }) => message.content.replaceAll(/.*you to /g, '')));
    }
    expect(told).toEqual([['the channel #**fresh**.'], ['the following channels:\n\n* #**fresh**\n* #**kept**']]);
  });

  test('does not receive a direct message about a channel that the same request creates', async () => {
    const { owner, member2 } = realm;
    const queue = await member2.queue();
    const principals = [member2.user_id];
    await owner.ok('POST', '/channels/create', { name: 'made', subscribers: principals });
    await create('existing');
    const subscriptions = [{ name: 'made too' }, { name: 'existing' }];
    await owner.ok('POST', '/users/me/subscriptions', { subscriptions, principals });
    const isTold = (event: Json) => isNotice(event) && event.message.type === 'private';
    expect((await queue.next(isTold)).message.content).toMatch(/ subscribed you to the channel #\*\*existing\*\*\.$/);
    await queue.settle();
    expect(queue.seen.filter(isTold)).toHaveLength(1);
  });

  test('does not receive a direct message if the caller disables it', async () => {
    const queue = await realm.member2.queue();
    await create('quiet');
    await realm.member.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'quiet' }],
      principals: [realm.member2.user_id],
      send_new_subscription_messages: false,
    });
    await realm.member2.queue();
    expect((await queue.settle()).filter((event) => isNotice(event) && event.message.type === 'private')).toEqual([]);
  });
});

test('renaming a channel sends a notice with both names', async () => {
  await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'before' }] });
  const { stream_id } = await realm.owner.ok('GET', '/get_stream_id', { stream: 'before' });
  await noticesSent(realm.id);
  const queue = await realm.owner.queue();
  await realm.owner.ok('PATCH', `/streams/${stream_id}`, { new_name: 'after' });
  const { message } = await queue.next(isNotice);
  expect(message).toMatchObject({ display_recipient: 'after', subject: 'channel events' });
  expect(message.content).toMatch(/before[\s\S]*after/);
});

test('notices use the empty topic in a channel that allows no other topic', async () => {
  const { owner } = realm;
  const form = { name: 'plain', subscribers: [owner.user_id], topics_policy: 'empty_topic_only' };
  const { id } = await owner.ok('POST', '/channels/create', form);
  await noticesSent(realm.id);
  const queue = await owner.queue({ client_capabilities: { empty_topic_name: true } });
  await owner.ok('PATCH', `/streams/${id}`, { description: 'One conversation' });
  const { message } = await queue.next(isNotice);
  expect(message).toMatchObject({ display_recipient: 'plain', subject: '' });
  expect(message.content).toContain('One conversation');
});

test('a notice with a description does not reveal a channel that its author cannot see', async () => {
  const { owner, member } = realm;
  const { id: secret } = await owner.ok('POST', '/channels/create', {
    name: 'vault',
    subscribers: [],
    invite_only: true,
  });
  const queue = await member.queue({ apply_markdown: true });
  const texts: string[] = [];
  for (const name of ['vault', 'no vault']) {
    const form = { name: `guess of ${name}`, subscribers: [member.user_id], description: `#**${name}** @**all**` };
    await member.ok('POST', '/channels/create', form);
    const { message, flags } = await queue.next(isNotice);
    expect(flags).not.toContain('stream_wildcard_mentioned');
    texts.push(message.content.replace(name, 'it'));
  }
  expect(texts[0]).toBe(texts[1]);
  expect(texts[0]).not.toContain(`"${secret}"`);
});

test('a new channel is announced in the configured channel if its creator requests it', async () => {
  await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'news' }] });
  const { stream_id } = await realm.owner.ok('GET', '/get_stream_id', { stream: 'news' });
  await realm.owner.ok('PATCH', '/realm', { new_stream_announcements_stream_id: stream_id });
  const queue = await realm.owner.queue();
  const make = (name: string, announce: boolean) =>
    realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], announce });
  await make('unannounced', false);
  await make('announced', true);
  const isAnnouncement = (event: Json) => isNotice(event) && event.message.subject === 'new channels';
  const { message } = await queue.next(isAnnouncement);
  expect(message.display_recipient).toBe('news');
  expect(message.content).toContain('announced');
  expect(queue.seen.filter(isAnnouncement)).toHaveLength(1);
});

test('a sign-up is announced in the configured channel', async () => {
  const { stream_id } = await realm.owner.ok('GET', '/get_stream_id', { stream: 'news' });
  await realm.owner.ok('PATCH', '/realm', { signup_announcements_stream_id: stream_id });
  const queue = await realm.owner.queue();
  await realm.person({ full_name: 'Nora Newcomer' });
  const { message } = await queue.next((event) => isNotice(event) && event.message.subject === 'signups');
  expect(message.content).toContain('Nora Newcomer');
});

test('a user who is added to a group by another user receives a notice', async () => {
  const { group_id } = await realm.owner.ok('POST', '/user_groups/create', {
    name: 'gardeners',
    description: '',
    members: [realm.owner.user_id],
  });
  await noticesSent(realm.id);
  const queue = await realm.member.queue();
  await realm.owner.ok('POST', `/user_groups/${group_id}/members`, { add: [realm.member.user_id] });
  const { message } = await queue.next(isNotice);
  expect(message.type).toBe('private');
  expect(message.content).toContain('gardeners');
});

test('notices contain the names of users and groups at the time of the event', async () => {
  const { owner, member, member2 } = realm;
  const { group_id } = await owner.ok('POST', '/user_groups/create', { name: 'round 0', description: '', members: [] });
  const queue = await member2.queue();
  for (const round of [1, 2, 3]) {
    const full_name = `Called ${round}`;
    await owner.ok('PATCH', `/users/${member.user_id}`, { full_name });
    const name = `of round ${round}`;
    await owner.ok('POST', '/channels/create', { name, subscribers: [] });
    await member.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: [member.user_id, member2.user_id],
    });
    const subscribed = await queue.next((event) => isNotice(event) && event.message.type === 'private');
    expect(subscribed.message.content).toContain(full_name);
    await owner.ok('PATCH', `/user_groups/${group_id}`, { name: `round ${round}` });
    await owner.ok('POST', `/user_groups/${group_id}/members`, { add: [member2.user_id] });
    const added = await queue.next((event) => isNotice(event) && event.message.type === 'private');
    expect(added.message.content).toContain(`round ${round}`);
    await owner.ok('POST', `/user_groups/${group_id}/members`, { delete: [member2.user_id] });
    await queue.next((event) => isNotice(event) && event.message.type === 'private');
  }
});

test('the notice about the first action of a new user contains their name', async () => {
  const person = await realm.person({ full_name: 'Zoe Early' });
  const queue = await person.queue();
  await person.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'first of zoe' }] });
  const { message } = await queue.next(
    (event) => isNotice(event) && event.message.display_recipient === 'first of zoe',
  );
  expect(message.content).toContain('Zoe Early');
});
