import { restoringMark } from '@natter/database';
import { Redis } from 'ioredis';
import pg from 'pg';
import { type Command, readOptions, requireEnv, UsageError } from './command.ts';
import { connectPostgres } from './postgres.ts';

const defaultMargin = 1_000_000;

/**
 * A restored database does not contain the numbers that were assigned after its backup. Every realm's clock is moved
 * beyond any that can have been assigned, a new epoch begins, and queues end, so that no number, message id or event id
 * is assigned twice.
 */
export const afterRestore: Command = {
  name: 'after-restore',
  usage: '[--margin EVENTS] [--if-marked]',
  summary: 'Begin a new epoch in every realm, after a restore and before any service starts',
  run: async (args, output) => {
    const { margin: given, flags } = readOptions(args, [], ['margin'], ['if-marked']);
    const margin = Number(given ?? defaultMargin);
    if (!Number.isSafeInteger(margin) || margin < 1) throw new UsageError('--margin must be a positive number');
    const client = await connectPostgres({ connectionTimeoutMillis: 0 });
    try {
      const mark = await readMark(client);
      if (flags.has('if-marked') && mark === undefined) {
        output.done('the database was not restored: nothing to do', { realms: 0, queues: 0, keys: 0 });
        return 0;
      }
      const { realms, queues } = await beginEpochs(client, margin);
      const keys = await forgetStreams();
      // Last: a Job that ends before this point runs everything again.
      if (mark !== undefined) await client.query(mark.removal);
      output.done(
        `${realms} realms begin a new epoch; ${queues} queues of the old one ended\n${keys} keys forgotten in Redis`,
        { realms, queues, keys },
      );
      return 0;
    } finally {
      await client.end();
    }
  },
};

async function beginEpochs(client: pg.Client, margin: number): Promise<{ realms: number; queues: number }> {
  await client.query('BEGIN');
  const { rows } = await client.query<{ realm_id: number; epoch: number }>(
    'SELECT realm_id, log.new_epoch(realm_id, number + $1, epoch) AS epoch FROM log.clock ORDER BY realm_id',
    [margin],
  );
  const { rowCount } = await client.query('DELETE FROM event_queue.queue');
  await client.query('COMMIT');
  return { realms: rows.length, queues: rowCount ?? 0 };
}

/** The Job of the chart marks a database with this comment before it restores a dump into it. */
async function readMark(client: pg.Client): Promise<{ removal: string } | undefined> {
  const { rows } = await client.query<{ name: string; mark: string | null }>(
    "SELECT datname AS name, shobj_description(oid, 'pg_database') AS mark FROM pg_database WHERE datname = current_database()",
  );
  const [database] = rows;
  if (!database?.mark?.startsWith(restoringMark)) return undefined;
  const mark = pg.escapeLiteral(`natter: restored ${database.mark.slice(restoringMark.length)}`);
  return { removal: `COMMENT ON DATABASE ${pg.escapeIdentifier(database.name)} IS ${mark}` };
}

/** Deletes streams and cached records of the old epoch; Redis holds no records of its own. */
async function forgetStreams(): Promise<number> {
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
    return deleted;
  } finally {
    redis.disconnect();
  }
}
