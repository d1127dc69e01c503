import { connected, openRealm } from '@natter/testkit';
import type { Client } from 'pg';
import { expect, test } from 'vitest';
import { behindRows, lockRows } from '../../held-rows.ts';
import { soon } from '../scheduled-messages/soon.ts';

/** Sessions of messaging that wait for a lock of this one. */
async function waiting(holder: Client): Promise<number> {
  const [own] = (await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
  // A transaction keeps the list of sessions that it read first.
  return connected(async (observer) => {
    const blocked = `SELECT FROM pg_stat_activity WHERE usename = 'natter_messaging' AND $1 = ANY (pg_blocking_pids(pid))`;
    return (await observer.query(blocked, [own?.pid])).rowCount ?? 0;
  });
}

test.each(['reminder', 'report'])(
  'a %s is refused if the access to its message was revoked after it was checked',
  async (kind) => {
    const { id: realmId, owner, member } = await openRealm();
    const moderation = await owner.ok('POST', '/channels/create', {
      name: 'moderation',
      subscribers: [owner.user_id],
      invite_only: true,
    });
    await owner.ok('PATCH', '/realm', { moderation_request_channel_id: moderation.id });
    const subscribers = [owner.user_id, member.user_id];
    const { id: closed } = await owner.ok('POST', '/channels/create', {
      name: 'closed',
      subscribers,
      invite_only: true,
      history_public_to_subscribers: true,
    });
    const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: closed, topic: 'a', content: 'secret' });
    const ask = (message_id: number) =>
      kind === 'reminder'
        ? member.post('/reminders', { message_id, scheduled_delivery_timestamp: soon(600) })
        : member.post(`/messages/${message_id}/report`, { report_type: 'spam' });
    const asked = await connected(async (holder) => {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM messaging.message WHERE realm_id = $1 AND id = $2 FOR UPDATE', [realmId, id]);
      const asking = ask(id);
      await expect.poll(() => waiting(holder)).toBeGreaterThan(0);
      await owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['closed'], principals: [member.user_id] });
      await holder.query('ROLLBACK');
      return asking;
    });
    expect(asked.status).toBe(400);
    expect(asked.body).toEqual((await ask(99_999_999)).body);
    expect((await member.ok('GET', '/reminders')).reminders).toEqual([]);
  },
);

test('a preference for a topic is refused if the access to its channel is revoked during its transaction', async () => {
  const { owner, member } = await openRealm();
  const subscribers = [owner.user_id, member.user_id];
  const { id: stream_id } = await owner.ok('POST', '/channels/create', {
    name: 'closed',
    subscribers,
    invite_only: true,
  });
  const removal = { subscriptions: ['closed'], principals: [member.user_id] };
  const [followed] = await behindRows(
    { ...lockRows('muted-topics', member.user_id), services: ['messaging'] },
    [() => member.post('/user_topics', { stream_id, topic: 'a', visibility_policy: 3 })],
    () => owner.ok('DELETE', '/users/me/subscriptions', removal),
  );
  expect([followed?.status, followed?.body.msg]).toEqual([400, 'Invalid channel ID']);
});
