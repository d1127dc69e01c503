import { type Command, readOptions } from './command.ts';
import { storedRealm, withPostgres } from './postgres.ts';

/** A command that lists rows of one realm; `$1` is the ID of the realm. */
const listOf = (name: string, summary: string, query: string): Command => ({
  name: `${name} list`,
  usage: '--host HOST',
  summary,
  run: async (args, output) => {
    const { host } = readOptions(args, ['host'], []);
    const rows = await withPostgres(async (client) => {
      const realm = await storedRealm(client, host);
      return (await client.query(query, [realm.id])).rows;
    });
    output.table(rows, `the realm has no ${name}s`);
    return 0;
  },
});

export const listChannels = listOf(
  'channel',
  'List the channels of a realm with their subscribers and messages of a week',
  `SELECT c.id AS channel_id, c.name, c.is_private, c.is_web_public, c.is_default, c.is_archived, c.weekly_traffic,
    (SELECT count(*)::int FROM channels.subscription s WHERE s.channel_id = c.id AND s.is_active) AS subscribers
  FROM channels.channel c WHERE c.realm_id = $1 ORDER BY c.id`,
);

export const listQueues = listOf(
  'queue',
  'List the event queues of a realm, with their users and when they expire',
  `SELECT q.queue_id, q.user_id, a.email, extract(epoch FROM q.idle_timeout)::int AS idle_timeout_seconds, q.expires_at
  FROM event_queue.queue q LEFT JOIN users.account a ON a.id = q.user_id
  WHERE q.realm_id = $1 AND q.expires_at > now() ORDER BY q.user_id, q.expires_at`,
);
