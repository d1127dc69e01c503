import { openRealm } from '@natter/testkit';
import { describe, expect, test } from 'vitest';

describe('read receipts', () => {
  test('of a channel message list users who marked it as read, without its sender', async () => {
    const realm = await openRealm();
    const people = [realm.owner, realm.member, realm.member2, realm.guest];
    await realm.owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'read here' }],
      principals: people.map((person) => person.user_id),
    });
    const { id } = await realm.owner.ok('POST', '/messages', {
      type: 'channel',
      to: 'read here',
      topic: 'a',
      content: 'hello',
      read_by_sender: true,
    });
    const readers = async (): Promise<number[]> =>
      (await realm.owner.ok('GET', `/messages/${id}/read_receipts`)).user_ids;
    expect(await readers()).toEqual([]);
    for (const who of people.slice(1))
      await who.ok('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'read' });
    expect(await readers()).toEqual([realm.member, realm.member2, realm.guest].map((person) => person.user_id));
    await realm.member2.ok('POST', '/messages/flags', { messages: [id], op: 'remove', flag: 'read' });
    expect(await readers()).toEqual([realm.member, realm.guest].map((person) => person.user_id));
  });

  test('of a message that the user may not read return the same error as of a missing one', async () => {
    const realm = await openRealm();
    const form = { type: 'direct', to: [realm.administrator.user_id], content: 'secret' };
    const { id } = await realm.owner.ok('POST', '/messages', form);
    const [hidden, none] = [
      await realm.member.get(`/messages/${id}/read_receipts`),
      await realm.member.get('/messages/90000000/read_receipts'),
    ];
    expect([hidden.status, hidden.body]).toEqual([400, none.body]);
  });

  test('of a direct message list its readers without its sender and muted users', async () => {
    const realm = await openRealm();
    const { owner, member, member2, administrator, moderator } = realm;
    const to = [member2, owner, administrator, moderator].map((who) => who.user_id);
    const { id } = await member.ok('POST', '/messages', { type: 'direct', to, content: 'hello', read_by_sender: true });
    for (const who of [member2, administrator, moderator])
      await who.ok('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'read' });
    const receipts = async () => (await owner.ok('GET', `/messages/${id}/read_receipts`)).user_ids;
    const ascending = (who: { user_id: number }[]) => who.map(({ user_id }) => user_id).sort((a, b) => a - b);
    expect(await receipts()).toEqual(ascending([member2, administrator, moderator]));
    await moderator.ok('POST', '/messages/flags', { messages: [id], op: 'remove', flag: 'read' });
    expect(await receipts()).toEqual(ascending([member2, administrator]));
    const muted = await administrator.post(`/users/me/muted_users/${owner.user_id}`);
    if (muted.status === 200) expect(await receipts()).toEqual([member2.user_id]);
  });

  test('are rejected in a realm that disables them', async () => {
    const realm = await openRealm();
    const form = { type: 'direct', to: [realm.member2.user_id], content: 'hello' };
    const { id } = await realm.member.ok('POST', '/messages', form);
    expect((await realm.member.ok('GET', `/messages/${id}/read_receipts`)).user_ids).toEqual([]);
    await realm.owner.ok('PATCH', '/realm', { enable_read_receipts: false });
    const { status, body } = await realm.member.get(`/messages/${id}/read_receipts`);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});
