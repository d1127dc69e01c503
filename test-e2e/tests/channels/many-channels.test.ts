import { besideOthers, connected, copyRow, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('a user joins and leaves thousands of channels that thousands of users see, and is deactivated', async () => {
  const realm = await openRealm();
  const { owner, member, member2 } = realm;
  const { id } = await owner.ok('POST', '/channels/create', { name: 'original', subscribers: [owner.user_id] });
  await copyRow({ table: 'users.account', where: `id = ${member2.user_id}` }, 5_000, {
    email: "'copy' || n || '@many.example'",
  });
  await copyRow({ table: 'channels.channel', where: `id = ${id}` }, 5_000, {
    name: "'copy ' || n",
    subscriber_count: '0',
  });
  await connected(async (client) => {
    await client.query(`INSERT INTO channels.person
      SELECT (jsonb_populate_record(p, jsonb_build_object('user_id', a.id, 'email', a.email))).*
      FROM channels.person p, users.account a
      WHERE p.user_id = ${member2.user_id} AND a.realm_id = ${realm.id} AND a.email LIKE 'copy%'`);
    // Changes the stamp of the directory, because processes would otherwise keep the users that they have read.
    await client.query(`UPDATE channels.directory SET stamp = 'copied' WHERE realm_id = ${realm.id}`);
  });
  const queue = await owner.queue({ event_types: ['subscription', 'stream'] });
  const [atOnce, portions] = [1_000, [0, 1, 2, 3, 4]];
  const namesOf = (portion: number) => Array.from({ length: atOnce }, (_, n) => `copy ${portion * atOnce + n + 1}`);
  const join = (portion: number) =>
    member.ok('POST', '/users/me/subscriptions', { subscriptions: namesOf(portion).map((name) => ({ name })) });
  await besideOthers('/users/me/subscriptions', () => join(0));
  const added = await queue.next(({ op }) => op === 'peer_add');
  expect([added.user_ids, added.stream_ids.length]).toEqual([[member.user_id], atOnce]);
  await besideOthers('/users/me/subscriptions', () =>
    member.ok('DELETE', '/users/me/subscriptions', { subscriptions: namesOf(0) }),
  );
  const removed = await queue.next(({ op }) => op === 'peer_remove');
  expect([removed.user_ids, removed.stream_ids.length]).toEqual([[member.user_id], atOnce]);
  for (const portion of portions) await join(portion);
  const from = queue.seen.length;
  await owner.ok('DELETE', `/users/${member.user_id}`);
  const left = async (): Promise<number> => {
    await queue.poll(true);
    const removals = queue.seen.slice(from).filter(({ op }) => op === 'peer_remove');
    return new Set(removals.flatMap(({ stream_ids }) => stream_ids)).size;
  };
  await besideOthers('/users/me/subscriptions', () => expect.poll(left).toBe(portions.length * atOnce));
});
