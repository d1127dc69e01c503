import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { beforeDue, soon } from './soon.ts';

let realm: Realm;
let messageId: number;
beforeAll(async () => {
  realm = await openRealm();
  await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }] });
  const form = { type: 'channel', to: 'open', topic: 'lunch', content: 'soup today' };
  messageId = (await realm.member.ok('POST', '/messages', form)).id;
});

describe('a reminder', () => {
  test('quotes its message, and is listed until it is due', async () => {
    const person = await realm.person();
    const queue = await person.queue();
    const at = soon(600);
    const form = { message_id: messageId, scheduled_delivery_timestamp: at, note: 'bring a spoon' };
    const { reminder_id } = await person.ok('POST', '/reminders', form);
    const { reminders } = await person.ok('GET', '/reminders');
    expect(reminders).toMatchObject([
      {
        reminder_id,
        type: 'private',
        to: [person.user_id],
        scheduled_delivery_timestamp: at,
        failed: false,
        reminder_target_message_id: messageId,
      },
    ]);
    expect(reminders[0].content).toContain('bring a spoon');
    expect(reminders[0].content).toContain('soup today');
    expect(await queue.next(({ type }) => type === 'reminders')).toMatchObject({ op: 'add', reminders });
    expect((await person.ok('GET', '/scheduled_messages')).scheduled_messages).toEqual([]);
    expect((await person.queue()).state.reminders).toEqual(reminders);
  });

  test('is sent when it is due, as a direct message of the notification bot', async () => {
    const person = await realm.person();
    const queue = await person.queue();
    const { reminder_id } = await beforeDue((at) =>
      person.ok('POST', '/reminders', { message_id: messageId, scheduled_delivery_timestamp: at }),
    );
    const { message } = await queue.next(({ type }) => type === 'message');
    expect(message).toMatchObject({ type: 'private', sender_full_name: 'Notification Bot' });
    expect(message.content).toContain('soup today');
    expect(
      queue.seen.find(({ op }) => op === 'remove') ?? (await queue.next(({ op }) => op === 'remove')),
    ).toMatchObject({ type: 'reminders', reminder_id });
    expect((await person.ok('GET', '/reminders')).reminders).toEqual([]);
  });

  test('links its message in a private channel that only a permission opens to its owner', async () => {
    const person = await realm.person();
    const { id } = await realm.owner.ok('POST', '/channels/create', {
      name: 'by permission',
      subscribers: [realm.owner.user_id],
      invite_only: true,
      history_public_to_subscribers: true,
      can_subscribe_group: { direct_members: [person.user_id], direct_subgroups: [] },
    });
    const said = { type: 'channel', to: id, topic: 'plans', content: 'soup' };
    const message = await realm.owner.ok('POST', '/messages', said);
    const queue = await person.queue({ apply_markdown: true });
    await beforeDue((at) =>
      person.ok('POST', '/reminders', { message_id: message.id, scheduled_delivery_timestamp: at }),
    );
    const link = `href="/#narrow/channel/${id}-by-permission/topic/plans/near/${message.id}"`;
    expect((await queue.next(({ type }) => type === 'reminders')).reminders[0].rendered_content).toContain(link);
    expect((await queue.next(({ type }) => type === 'message')).message.content).toContain(link);
  });

  test('can be deleted by its owner only', async () => {
    const person = await realm.person();
    const form = { message_id: messageId, scheduled_delivery_timestamp: soon(600) };
    const { reminder_id } = await person.ok('POST', '/reminders', form);
    expect((await realm.member2.delete(`/reminders/${reminder_id}`)).status).toBe(404);
    await person.ok('DELETE', `/reminders/${reminder_id}`);
    const again = await person.delete(`/reminders/${reminder_id}`);
    expect([again.status, again.body.code]).toEqual([404, 'BAD_REQUEST']);
  });

  test.each<[string, () => Json]>([
    ['a message that does not exist', () => ({ message_id: 99_999_999 })],
    ['a time that is past', () => ({ scheduled_delivery_timestamp: soon(-5) })],
    ['a note over the limit', () => ({ note: 'x'.repeat(1_001) })],
  ])('with %s is rejected', async (_, changes) => {
    const form = { message_id: messageId, scheduled_delivery_timestamp: soon(600), ...changes() };
    const { status, body } = await realm.member.post('/reminders', form);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('of a message that the user may not read returns the same error as of a missing one', async () => {
    const { id } = await realm.owner.ok('POST', '/messages', {
      type: 'direct',
      to: [realm.administrator.user_id],
      content: 'secret',
    });
    const ask = (message_id: number) =>
      realm.member.post('/reminders', { message_id, scheduled_delivery_timestamp: soon(600) });
    expect((await ask(id)).body).toEqual((await ask(99_999_999)).body);
  });
});
