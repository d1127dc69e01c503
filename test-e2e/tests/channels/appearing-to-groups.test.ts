/** Private channels that appear to many users at once, and disappear, because a group changes. */
import { connected, copyRow, type Json, type Queue, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { channel, group, openQuietRealm, systemGroups } from './setting.ts';

const copies = 700;
let realm: Realm;
let members: number;
/** A group that contains nobody at first. */
let team: number;
/** Two members, and the names of the channels that they do not see at first. */
let followers: { queue: Queue; unseen: string[] }[];

/** The team sees all channels. One other user sees each of them in addition: a member, or one of as many copies. */
beforeAll(async () => {
  realm = await openQuietRealm();
  const { owner, member, member2 } = realm;
  members = (await systemGroups(realm))['role:members'] ?? 0;
  team = await group(realm, []);
  const original = await channel(owner, [owner], { name: 'original', invite_only: true, can_subscribe_group: team });
  await copyRow({ table: 'channels.channel', where: `id = ${original}` }, copies, {
    name: "'copy ' || n",
    permissions: `jsonb_set(t.permissions, '{can_subscribe_group}', jsonb_build_object(
      'direct_members', jsonb_build_array(
        CASE n % 3 WHEN 0 THEN ${member.user_id} WHEN 1 THEN ${member2.user_id} ELSE 2000000000 + n END),
      'direct_subgroups', jsonb_build_array(${team})))`,
  });
  await copyRow({ table: 'channels.person', where: `user_id = ${member.user_id}` }, copies, {
    user_id: '2000000000 + n',
    email: "'copy' || n || '@many.example'",
  });
  await connected(async (client) => {
    await client.query(
      `INSERT INTO channels.group_member (realm_id, group_id, user_id)
       SELECT realm_id, $2, user_id FROM channels.person WHERE realm_id = $1 AND user_id > 2000000000`,
      [realm.id, members],
    );
    await client.query(
      `INSERT INTO channels.subscription
       SELECT (jsonb_populate_record(s, jsonb_build_object('channel_id', c.id))).*
       FROM channels.subscription s, channels.channel c
       WHERE s.channel_id = $2 AND c.realm_id = $1 AND c.id <> $2`,
      [realm.id, original],
    );
    await client.query(`UPDATE channels.directory SET stamp = 'copied' WHERE realm_id = $1`, [realm.id]);
  });
  const names = Array.from({ length: copies }, (_, index) => `copy ${index + 1}`);
  const form = { event_types: ['stream', 'subscription'], fetch_event_types: ['stream'] };
  followers = await Promise.all(
    [member, member2].map(async (who, rest) => ({
      queue: await who.queue(form),
      unseen: ['original', ...names.filter((_, index) => (index + 1) % 3 !== rest)],
    })),
  );
});

/** Polls until the events of this kind name these channels, each once. */
async function expectNamed(
  fits: (event: Json) => boolean,
  idsOf: (event: Json) => number[],
  nameOf: Map<number, string>,
) {
  for (const { queue, unseen } of followers) {
    const named = async (): Promise<string[]> => {
      await queue.poll(true);
      return queue.seen.filter(fits).flatMap((event) => idsOf(event).map((id) => nameOf.get(id) ?? 'unknown'));
    };
    await expect.poll(async () => (await named()).length).toBeGreaterThanOrEqual(unseen.length);
    expect((await named()).sort()).toEqual([...unseen].sort());
  }
}

const idsOfStreams = ({ streams }: Json): number[] => streams.map(({ stream_id }: Json) => stream_id);

test('a group joins and leaves the team: its members are told which channels appear and disappear', async () => {
  const { owner } = realm;
  const { streams } = await owner.ok('GET', '/streams', { include_all: true });
  const nameOf = new Map<number, string>(streams.map(({ stream_id, name }: Json) => [stream_id, name]));
  await owner.ok('POST', `/user_groups/${team}/members`, { add_subgroups: [members] });
  await expectNamed(({ type, op }) => type === 'stream' && op === 'create', idsOfStreams, nameOf);
  await expectNamed(
    ({ op, user_ids }) => op === 'peer_add' && user_ids.includes(owner.user_id),
    ({ stream_ids }) => stream_ids,
    nameOf,
  );
  await owner.ok('POST', `/user_groups/${team}/members`, { delete_subgroups: [members] });
  await expectNamed(({ type, op }) => type === 'stream' && op === 'delete', idsOfStreams, nameOf);
});
