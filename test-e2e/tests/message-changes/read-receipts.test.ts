import { openRealm } from '@natter/testkit';
import { describe, expect, test } from 'vitest';

describe('read receipts', () => {
  test('are refused of a message one may not read, as if it were not there', async () => {
    const realm = await openRealm();
    const form = { type: 'direct', to: [realm.administrator.user_id], content: 'secret' };
    const { id } = await realm.owner.ok('POST', '/messages', form);
    const [hidden, none] = [
      await realm.member.get(`/messages/${id}/read_receipts`),
      await realm.member.get('/messages/90000000/read_receipts'),
    ];
    expect([hidden.status, hidden.body]).toEqual([400, none.body]);
  });

  test('are refused where the realm has none', async () => {
    const realm = await openRealm();
    const form = { type: 'direct', to: [realm.member2.user_id], content: 'hello' };
    const { id } = await realm.member.ok('POST', '/messages', form);
    expect((await realm.member.ok('GET', `/messages/${id}/read_receipts`)).user_ids).toEqual([]);
    await realm.owner.ok('PATCH', '/realm', { enable_read_receipts: false });
    const { status, body } = await realm.member.get(`/messages/${id}/read_receipts`);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});
