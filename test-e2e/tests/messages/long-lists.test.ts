import { copyRow, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

/** Lists that grow with the messages of a channel or a user are bounded. */
let realm: Realm;
let channel: number;
let first: number;

/** The topic of the notice about a new channel. */
const topic = 'channel events';

beforeAll(async () => {
  realm = await openRealm();
  await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'many' }] });
  channel = (await realm.member.ok('GET', '/get_stream_id', { stream: 'many' })).stream_id;
  first = (await realm.member.ok('POST', '/messages', { type: 'channel', to: channel, topic, content: 'x' })).id;
});

/** Ids of copies are above those of all other messages. */
const before = 1_000_000_000;
const topics = async (): Promise<Json[]> => (await realm.member.ok('GET', `/users/me/${channel}/topics`)).topics;
const copies = (count: number, differing: Record<string, string>) =>
  copyRow({ table: 'messaging.message', where: `realm_id = ${realm.id} AND id = ${first}` }, count, differing);

test('the newest 20,000 of 20,001 topics of a channel are listed, the newest first', async () => {
  // Alphabetical order is the reverse of the order of time.
  await copies(19_999, { id: `${before} + n`, topic: "'topic ' || (100000 - n)" });
  const all = await topics();
  expect(all.length).toBe(20_000);
  expect(all[0]).toEqual({ name: 'topic 80001', max_id: before + 19_999 });
  expect(all.at(-1)?.name).toBe(topic);
  await copies(1, { id: `${before + 20_000}`, topic: "'TOPIC 70000'" });
  await copies(1, { id: `${before + 20_001}`, topic: "'topic 70000'" });
  const newest = await topics();
  expect(newest.length).toBe(20_000);
  expect([newest[0], newest.at(-1)]).toEqual([
    { name: 'topic 70000', max_id: before + 20_001 },
    { name: 'topic 99999', max_id: before + 1 },
  ]);
});

test('a register contains the newest 100,000 starred messages in ascending order', async () => {
  await realm.member.ok('POST', '/messages/flags', { messages: [first], op: 'add', flag: 'starred' });
  await copyRow({ table: 'messaging.flag', where: `user_id = ${realm.member.user_id} AND flag = 'starred'` }, 100_000, {
    message_id: 't.message_id + n',
  });
  const { starred_messages } = await realm.member.ok('POST', '/register', { fetch_event_types: ['starred_messages'] });
  expect(starred_messages.length).toBe(100_000);
  expect([starred_messages[0], starred_messages.at(-1)]).toEqual([first + 1, first + 100_000]);
});
