import { copyRow, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

/** Participants of direct messages count in the limits of answers. */
const mebibyte = 1024 * 1024;
const ids = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('the limit of 250 recipients of a direct message', () => {
  let realm: Realm;
  beforeAll(async () => {
    realm = await openRealm();
  });
  const msg = 'A direct message can have at most 250 recipients. Use a channel instead.';

  test.each<[string, string, Json]>([
    ['messages', '/messages', { type: 'direct', to: ids(251), content: 'x' }],
    [
      'messages to addresses',
      '/messages',
      { type: 'direct', to: ids(251).map((id) => `${id}@x.example`), content: 'x' },
    ],
    ['typing events', '/typing', { type: 'direct', to: ids(251), op: 'start' }],
    [
      'scheduled messages',
      '/scheduled_messages',
      { type: 'direct', to: ids(251), content: 'x', scheduled_delivery_timestamp: 4e9 },
    ],
  ])('applies to %s', async (_, path, form) => {
    const refused = await realm.member.post(path, form);
    expect([refused.status, refused.body.msg]).toEqual([400, msg]);
  });

  test('counts a repeated recipient once', async () => {
    const to = Array.from({ length: 300 }, () => realm.member2.user_id);
    await realm.member.ok('POST', '/messages', { type: 'direct', to, content: 'x' });
  });
});

describe('a user with messages in 5,000 conversations of 250 people', () => {
  const count = 5_000;
  let realm: Realm;
  let first: number;
  beforeAll(async () => {
    realm = await openRealm();
    const { member, member2, owner } = realm;
    first = (
      await member2.ok('POST', '/messages', { type: 'direct', to: [member.user_id, owner.user_id], content: 'x' })
    ).id;
    // Seven digits, as in a large organization.
    const participants = `ARRAY(SELECT ${member.user_id} UNION ALL SELECT 1000000 + n * 300 + g FROM generate_series(1, 250) g)`;
    await copyRow({ table: 'messaging.message', where: `realm_id = ${realm.id} AND id = ${first}` }, count, {
      id: 't.id + n',
      recipient_ids: participants,
      conversation: `array_to_string(${participants}, ',')`,
    });
    await copyRow(
      { table: 'messaging.direct_message', where: `user_id = ${member.user_id} AND message_id = ${first}` },
      count,
      { message_id: 't.message_id + n' },
    );
  });

  test('gets pages of at most 2 MiB of text and participants', async () => {
    const form = { anchor: 'newest', num_before: 5_000, num_after: 0 };
    const page = await realm.member.ok('GET', '/messages', form);
    expect(page.messages.length).toBeGreaterThan(10);
    expect(page.messages.length).toBeLessThan(50);
    expect([page.found_newest, page.found_oldest]).toEqual([true, false]);
    const message_ids = ids(100).map((index) => first + index);
    expect((await realm.member.get('/messages', { message_ids })).body.msg).toMatch(/too much text/);
  });

  test('gets the newest unread messages with at most 8 MiB of participants', async () => {
    const state = await realm.member.ok('POST', '/register', {
      fetch_event_types: ['message', 'update_message_flags'],
    });
    const { huddles, old_unreads_missing } = state.unread_msgs;
    expect(old_unreads_missing).toBe(true);
    expect(huddles.at(-1).unread_message_ids).toEqual([first + count]);
    const bytes = huddles.reduce((sum: number, one: Json) => sum + one.user_ids_string.length, 0);
    expect(bytes).toBeGreaterThan(7 * mebibyte);
    expect(bytes).toBeLessThanOrEqual(8 * mebibyte);
  });

  test('gets the newest conversations with at most 1 MiB of participants', async () => {
    const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['recent_private_conversations'] });
    const recent: Json[] = state.recent_private_conversations;
    expect(recent[0]?.max_message_id).toBe(first + count);
    expect(recent.length).toBeGreaterThan(400);
    expect(recent.length).toBeLessThan(600);
  });

  test('can mark only few of them as unread in one request', async () => {
    const mark = (messages: number[]) => realm.member.post('/messages/flags', { messages, op: 'remove', flag: 'read' });
    await realm.member.ok('POST', '/mark_all_as_read');
    const refused = await mark(ids(250).map((index) => first + index));
    expect(refused.body.msg).toMatch(/too many participants/);
    expect((await mark([first + 1, first + 2])).body.messages).toEqual([first + 1, first + 2]);
  });
});

test('the recipients of drafts count towards the limit of text', async () => {
  const { member, owner } = await openRealm();
  const drafts = [{ type: 'private', to: [owner.user_id], topic: '', content: 'x' }];
  await member.ok('POST', '/drafts', { drafts });
  await copyRow({ table: 'messaging.draft', where: `user_id = ${member.user_id}` }, 600, {
    recipient_ids: 'ARRAY(SELECT generate_series(1, 1000))',
  });
  const refused = await member.post('/drafts', { drafts });
  expect([refused.status, refused.body.msg]).toEqual([400, 'Too much text in drafts (limit: 4096 KiB)']);
});
