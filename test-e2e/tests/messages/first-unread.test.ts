import { type Json, noticesSent, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { untilServed } from '../../patience.ts';
import { channel } from '../channels/setting.ts';

let realm: Realm;
let [open, quiet] = [0, 0];
let [inQuiet, inMuted, inOpen] = [0, 0, 0];
const largest = 10_000_000_000_000_000;

beforeAll(async () => {
  realm = await openRealm();
  const { owner, member } = realm;
  [open, quiet] = [await channel(owner, [owner, member]), await channel(owner, [owner, member])];
  await noticesSent(realm.id);
  await member.ok('POST', '/mark_all_as_read');
  await member.ok('POST', '/users/me/subscriptions/properties', {
    subscription_data: [{ stream_id: quiet, property: 'is_muted', value: true }],
  });
  await member.ok('POST', '/user_topics', { stream_id: open, topic: 'muted', visibility_policy: 1 });
  const send = async (to: number, topic: string): Promise<number> =>
    (await owner.ok('POST', '/messages', { type: 'channel', to, topic, content: 'x' })).id;
  [inQuiet, inMuted, inOpen] = [await send(quiet, 'a'), await send(open, 'Muted'), await send(open, 'b')];
});

const page = { num_before: 0, num_after: 0 };
const anchorOf = async (form: Json): Promise<number> =>
  (await realm.member.ok('GET', '/messages', { anchor: 'first_unread', ...page, ...form })).anchor;

test('the first unread message is in no muted topic and in no muted channel', async () => {
  expect(await anchorOf({})).toBe(inOpen);
  expect(await anchorOf({ narrow: [['sender', realm.owner.user_id]] })).toBe(inOpen);
  expect(await anchorOf({ use_first_unread_anchor: true })).toBe(inOpen);
  expect(await anchorOf({ narrow: [['topic', 'muted']] })).toBe(largest);
  const change = { ...page, anchor: 'first_unread', narrow: [], op: 'add', flag: 'starred' };
  expect(await realm.member.ok('POST', '/messages/flags/narrow', change)).toMatchObject({ first_processed_id: inOpen });
});

test('the first unread message of a muted channel or topic is found in a narrow that names it', async () => {
  expect(await anchorOf({ narrow: [['channel', quiet]] })).toBe(inQuiet);
  expect(await anchorOf({ narrow: [['channel', open]] })).toBe(inOpen);
  const muted = ['topic', 'muted'];
  expect(await anchorOf({ narrow: [['channel', open], muted] })).toBe(inMuted);
  expect(await anchorOf({ narrow: [['with', inMuted]] })).toBe(inMuted);
});

test('the first unread message may be in an unmuted topic of a muted channel', async () => {
  const set = (visibility_policy: number) =>
    realm.member.ok('POST', '/user_topics', { stream_id: quiet, topic: 'a', visibility_policy });
  await set(2);
  expect(await anchorOf({})).toBe(inQuiet);
  await set(0);
  expect(await anchorOf({})).toBe(inOpen);
});

test('a page from the first unread message skips none behind thousands of a muted topic', async () => {
  const { owner } = realm;
  const reader = await realm.person();
  const id = await channel(owner, [owner, reader]);
  await reader.ok('POST', '/mark_all_as_read');
  await reader.ok('POST', '/user_topics', { stream_id: id, topic: 'noise', visibility_policy: 1 });
  const send = async (topic: string): Promise<number> =>
    (await untilServed(() => owner.post('/messages', { type: 'channel', to: id, topic, content: 'x' }))).body.id;
  let left = 5_000;
  const sendAll = async (): Promise<void> => {
    while (left-- > 0) await send('noise');
  };
  await Promise.all(Array.from({ length: 16 }, sendAll));
  const wanted = await send('signal');
  const form = { anchor: 'first_unread', num_before: 0, num_after: 50 };
  const { messages } = await reader.ok('GET', '/messages', form);
  expect(messages.map((message: Json) => message.id)).toContain(wanted);
});
