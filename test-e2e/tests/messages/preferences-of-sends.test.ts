import { type Client, connected, type Json, noticesSent, openRealm, type Realm } from '@natter/testkit';
import type { Client as Session } from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { channel, nameOf } from '../channels/setting.ts';

let realm: Realm;
let at: number;
beforeAll(async () => {
  realm = await openRealm();
  at = await channel(realm.owner, [realm.owner, realm.member]);
  // Waits until the notices are sent, so that only the sends of the tests wait below.
  await noticesSent(realm.id);
});

const send = (topic: string, content: string) =>
  realm.owner.ok('POST', '/messages', { type: 'channel', to: at, topic, content });
const mention = (topic: string) => send(topic, `@**${realm.member.full_name}**`);
const setPolicy = (topic: string, visibility_policy: number) =>
  realm.member.ok('POST', '/user_topics', { stream_id: at, topic, visibility_policy });
const policyOf = async (topic: string): Promise<number | undefined> => {
  const { user_topics } = await realm.member.ok('POST', '/register', { fetch_event_types: ['user_topic'] });
  return user_topics.find(({ topic_name }: Json) => topic_name === topic)?.visibility_policy;
};
const isBlocked = (pid: number | undefined): Promise<boolean> =>
  connected(async (observer) => {
    const { rows } = await observer.query('SELECT cardinality(pg_blocking_pids($1)) > 0 AS is', [pid]);
    return rows[0]?.is;
  });
/** Sessions of messaging that wait for a lock of this one. */
async function waiting(holder: Session): Promise<number> {
  const [own] = (await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
  // A transaction keeps the list of sessions that it read first.
  return connected(async (observer) => {
    const blocked = `SELECT FROM pg_stat_activity WHERE usename = 'natter_messaging' AND $1 = ANY (pg_blocking_pids(pid))`;
    return (await observer.query(blocked, [own?.pid])).rowCount ?? 0;
  });
}

test.each([
  ['mutes', undefined, 'INSERT INTO messaging.user_topic VALUES ($1, $2, $3, $4, lower($4), 1)'],
  [
    'no longer unmutes but mutes',
    2,
    'UPDATE messaging.user_topic SET policy = 1 WHERE realm_id = $1 AND user_id = $2 AND channel_id = $3 AND topic = $4',
  ],
])(
  'a user who %s a topic after a mention was decided and before it is committed keeps it muted',
  async (how, before, change) => {
    const topic = `topic that one ${how}`;
    await send(topic, 'first');
    if (before) await setPolicy(topic, before);
    await connected(async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT FROM log.clock WHERE realm_id = $1 FOR UPDATE', [realm.id]);
      const sent = mention(topic);
      await expect.poll(() => waiting(client)).toBeGreaterThan(0);
      await client.query(change, [realm.id, realm.member.user_id, at, topic]);
      await client.query('COMMIT');
      await sent;
    });
    expect(await policyOf(topic)).toBe(1);
  },
);

test('a send succeeds without preferences for mentioned users after three conflicts with changes of theirs', async () => {
  const topic = 'contested';
  await send(topic, 'first');
  const row = [realm.id, realm.member.user_id, at, topic];
  const unmute = 'INSERT INTO messaging.user_topic VALUES ($1, $2, $3, $4, lower($4), 2)';
  const reset =
    'DELETE FROM messaging.user_topic WHERE realm_id = $1 AND user_id = $2 AND channel_id = $3 AND topic = $4';
  await connected((one) =>
    connected(async (other) => {
      const lockClock = async (client: Session) => {
        await client.query('BEGIN');
        await client.query('SELECT FROM log.clock WHERE realm_id = $1 FOR UPDATE', [realm.id]);
      };
      let [holder, next] = [one, other];
      await lockClock(holder);
      const sent = mention(topic);
      for (const change of [unmute, reset, unmute, reset]) {
        // The send waits for the clock, and the next holder behind it, so that each attempt meets a change.
        await expect.poll(() => waiting(holder)).toBeGreaterThan(0);
        const pid = (await next.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
        const locked = lockClock(next);
        await expect.poll(() => isBlocked(pid)).toBe(true);
        await holder.query(change, row);
        await holder.query('COMMIT');
        await locked;
        [holder, next] = [next, holder];
      }
      await holder.query('COMMIT');
      await sent;
    }),
  );
  expect(await policyOf(topic)).toBeUndefined();
});

test('a send to a topic whose messages the sender cannot see is answered and gives a preference like one to a new topic', async () => {
  const { owner, member2 } = realm;
  const vault = await channel(owner, [owner], { invite_only: true, history_public_to_subscribers: false });
  const say = async (who: Client, topic: string): Promise<number | undefined> =>
    (await who.ok('POST', '/messages', { type: 'channel', to: vault, topic, content: 'x' }))
      .automatic_new_visibility_policy;
  await say(owner, 'before');
  const subscriptions = [{ name: await nameOf(owner, vault) }];
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions, principals: [member2.user_id] });
  await say(owner, 'after');
  const answers = [await say(member2, 'before'), await say(member2, 'new'), await say(member2, 'after')];
  expect(answers).toEqual([3, 3, undefined]);
  // Now the sender sees a message of each.
  const preferred = { stream_id: vault, topic: 'before', visibility_policy: 0 };
  await member2.ok('POST', '/user_topics', preferred);
  expect(await say(member2, 'before')).toBeUndefined();
});
