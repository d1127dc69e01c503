import { type Answer, Client, connected, copyRow, openRealm, type Realm } from '@natter/testkit';
import { expect, test } from 'vitest';
import { soon } from './soon.ts';

async function botOf(realm: Realm, owner: Client): Promise<Client> {
  const [full_name, short_name] = ['Filler', 'filler'];
  const { user_id, api_key } = await owner.ok('POST', '/bots', { full_name, short_name });
  return new Client(owner, { user_id, api_key, full_name, email: `${short_name}-bot@${realm.host}` });
}
const refusalOf = ({ status, body }: Answer) => [status, body.msg];
const toOneself = (who: Client) => ({ type: 'direct', to: [who.user_id], content: 'hello' });
const schedule = (who: Client): Promise<Answer> =>
  who.post('/scheduled_messages', { ...toOneself(who), scheduled_delivery_timestamp: soon(3_600) });

interface Total {
  limit: number;
  what: string;
  table: string;
  add: (who: Client, index: number, channelId: number) => Promise<Answer>;
  differing?: Record<string, string>;
}

const totals: Total[] = [
  { limit: 1_000, what: 'scheduled messages', table: 'messaging.scheduled_message', add: schedule },
  {
    limit: 1_000,
    what: 'reminders',
    table: 'messaging.scheduled_message',
    add: async (who) => {
      const { id: message_id } = await who.ok('POST', '/messages', toOneself(who));
      return who.post('/reminders', { message_id, scheduled_delivery_timestamp: soon(3_600) });
    },
  },
  {
    limit: 50_000,
    what: 'topic preferences',
    table: 'messaging.user_topic',
    add: (who, index, stream_id) =>
      who.post('/user_topics', { stream_id, topic: `topic ${index}`, visibility_policy: 3 }),
    differing: { topic: "'copy ' || n", topic_key: "'copy ' || n" },
  },
];

test.each(totals)(
  'the $what of a person and their bots have one limit',
  async ({ limit, what, table, add, differing }) => {
    const realm = await openRealm();
    const { owner, member, member2, administrator } = realm;
    const { id: channelId } = await owner.ok('POST', '/channels/create', {
      name: 'open',
      subscribers: [owner.user_id],
    });
    const bot = await botOf(realm, member);
    expect((await add(bot, 0, channelId)).status).toBe(200);
    const where = `realm_id = ${realm.id} AND user_id = ${bot.user_id}`;
    await copyRow({ table, where }, limit - 2, differing ?? {});
    expect((await add(member, 1, channelId)).status).toBe(200);
    const full = [400, `Too many ${what} (limit: ${limit})`];
    for (const who of [member, bot]) expect(refusalOf(await add(who, 2, channelId))).toEqual(full);
    await administrator.ok('PATCH', `/bots/${bot.user_id}`, { bot_owner_id: member2.user_id });
    expect(refusalOf(await add(member, 3, channelId))).toEqual(full);
    expect((await add(member2, 4, channelId)).status).toBe(200);
  },
);

test('a message of one user does not wait for many earlier ones of a bot of another user', async () => {
  const realm = await openRealm();
  const { member, member2 } = realm;
  const bot = await botOf(realm, member);
  for (const who of [bot, member2]) expect((await schedule(who)).status).toBe(200);
  const table = 'messaging.scheduled_message';
  await copyRow({ table, where: `realm_id = ${realm.id} AND user_id = ${bot.user_id}` }, 600, {});
  const before = await connected(async (client) => {
    await client.query(
      `UPDATE ${table} SET due_at = now() - CASE user_id WHEN $2 THEN interval '2 s' ELSE interval '1 s' END
       WHERE realm_id = $1 AND user_id IN ($2, $3)`,
      [realm.id, bot.user_id, member2.user_id],
    );
    const sentBefore = async (): Promise<number | undefined> => {
      const { rows } = await client.query<{ count: number }>(
        `SELECT (SELECT count(*)::int FROM ${table} b WHERE b.realm_id = $1 AND b.user_id = $2 AND b.message_id < m.message_id)
         FROM ${table} m WHERE m.realm_id = $1 AND m.user_id = $3 AND m.state = 'sent'`,
        [realm.id, bot.user_id, member2.user_id],
      );
      return rows[0]?.count;
    };
    await expect.poll(sentBefore).toBeDefined();
    return sentBefore();
  });
  // It is in the first batch.
  expect(before).toBeLessThan(250);
});
