import { Redis } from 'ioredis';
import pg from 'pg';
import { type Command, readOptions, requireEnv, UsageError } from './command.ts';
import { adminUrl } from './migrate.ts';

const defaultMargin = 1_000_000;

/**
 * A restored database does not know what was given after its backup. Every realm's clock goes beyond anything that can have
 * been given, a new epoch begins, and queues end, so that no number, message id or event id is ever given twice.
 */
export const afterRestore: Command = {
  name: 'after-restore',
  usage: '[--margin EVENTS]',
  summary: 'Begin a new epoch in every realm, after a restore and before any service starts',
  run: async (args) => {
    const { margin: given } = readOptions(args, [], ['margin']);
    const margin = Number(given ?? defaultMargin);
    if (!Number.isSafeInteger(margin) || margin < 1) throw new UsageError('--margin must be a positive number');
    const client = new pg.Client({ connectionString: adminUrl() });
    await client.connect();
    try {
      await client.query('BEGIN');
      const { rows } = await client.query<{ realm_id: number; epoch: number }>(
        'SELECT realm_id, log.new_epoch(realm_id, number + $1, epoch) AS epoch FROM log.clock ORDER BY realm_id',
        [margin],
      );
      const { rowCount } = await client.query('DELETE FROM event_queue.queue');
      await client.query('COMMIT');
      console.log(`${rows.length} realms begin a new epoch; ${rowCount} queues of the old one ended`);
    } finally {
      await client.end();
    }
    await forgetStreams();
    return 0;
  },
};

/** Streams and cached records of the old epoch; nothing in Redis is a record. */
async function forgetStreams(): Promise<void> {
  const redis = new Redis(requireEnv('NATTER_REDIS_URL', 'Redis, whose streams are of the old epoch'), {
    maxRetriesPerRequest: 2,
    disableClientInfo: true,
  });
  try {
    let deleted = 0;
    for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
      const [next, keys] = await redis.scan(cursor, 'MATCH', 'natter:*', 'COUNT', 1_000);
      cursor = next;
      for (const key of keys) deleted += await redis.unlink(key);
    }
    console.log(`${deleted} keys forgotten in Redis`);
  } finally {
    redis.disconnect();
  }
}
