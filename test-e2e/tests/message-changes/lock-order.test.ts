import { connected, type Json, openRealm } from '@natter/testkit';
import type { Client } from 'pg';
import { expect, test } from 'vitest';

/**
 * Each change waits for a message in the middle of the topic, which another transaction has locked: it has locked those
 * before it, and none after it, so that it never waits for one that waits for it.
 */
test.each(['delete', 'move by the last'])('messages of a topic are locked in ascending order: %s', async (kind) => {
  const { id: realmId, owner } = await openRealm();
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'locked' }] });
  const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'locked' });
  const ids: number[] = [];
  for (let n = 0; n < 5; n++)
    ids.push((await owner.ok('POST', '/messages', { type: 'channel', to: stream_id, topic: 'a', content: 'x' })).id);
  const [first, , middle, , last] = ids;
  const change = (): Promise<Json> =>
    kind === 'delete'
      ? owner.ok('POST', `/streams/${stream_id}/delete_topic`, { topic_name: 'a' })
      : owner.ok('PATCH', `/messages/${last}`, { topic: 'b', propagate_mode: 'change_all' });
  const lock = (client: Client, id: number | undefined, waits: string) =>
    client.query(`SELECT FROM messaging.message WHERE realm_id = $1 AND id = $2 FOR UPDATE ${waits}`, [realmId, id]);
  await connected((holder) =>
    connected(async (other) => {
      const isFree = async (id: number | undefined): Promise<boolean> =>
        lock(other, id, 'NOWAIT').then(
          () => true,
          () => false,
        );
      await holder.query('BEGIN');
      await lock(holder, middle, '');
      const changed = change();
      try {
        await expect.poll(() => isFree(first)).toBe(false);
        expect(await isFree(last)).toBe(true);
      } finally {
        await holder.query('ROLLBACK');
      }
      await changed;
    }),
  );
});
