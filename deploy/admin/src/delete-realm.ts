import { Redis } from 'ioredis';
import type pg from 'pg';
import { type Command, readOptions, requireEnv, UsageError } from './command.ts';
import type { Output } from './output.ts';
import { storedRealm, withPostgres } from './postgres.ts';
import { deleteRows, tablesOfRealms } from './realm-rows.ts';

/**
 * Gateways resolve hosts for two seconds from their cache, and a request lasts 15 seconds at most. After this time no
 * request of the realm runs any more.
 */
const graceSeconds = 20;

export const deleteRealm: Command = {
  name: 'realm delete',
  usage: '--host HOST --confirm NAME | --unfinished',
  summary:
    'Delete a deactivated realm and everything in it for ever, confirmed by its name; --unfinished continues interrupted deletions',
  run: async (args, output) => {
    const { host, confirm, flags } = readOptions(args, [], ['host', 'confirm'], ['unfinished']);
    const isNew = !flags.has('unfinished');
    if (isNew !== (host !== undefined) || isNew !== (confirm !== undefined))
      throw new UsageError('give either --host and --confirm, or --unfinished');
    return withPostgres(async (client) => {
      const redis = await connect();
      try {
        // Fails here if a table cannot be assigned to realms, before anything is deleted.
        await tablesOfRealms(client);
        const begun = host === undefined ? undefined : await begin(client, host, confirm ?? '');
        const deleted: object[] = [];
        for (const realm of await unfinished(client))
          if (begun === undefined || realm.id === begun) deleted.push(await finish({ client, redis, output }, realm));
        output.done(
          deleted.length === 0 ? 'no deletion is unfinished' : `${deleted.length} realms are deleted`,
          deleted,
        );
        return 0;
      } finally {
        redis.disconnect();
      }
    });
  },
};

/** From here on the host is unknown to processes of every release, and may be given to another realm. */
async function begin(client: pg.Client, host: string, confirm: string): Promise<number> {
  const realm = await storedRealm(client, host);
  if (realm.name !== confirm)
    throw new Error(`the realm of ${realm.host} has another name than ${confirm}: nothing was deleted`);
  const { rowCount } = await client.query(
    `UPDATE users.realm SET former_host = host, host = 'deleted/' || id, url = NULL, is_default = false, deletion_started_at = now()
    WHERE id = $1 AND name = $2 AND is_deactivated AND deletion_started_at IS NULL`,
    [realm.id, confirm],
  );
  if (rowCount !== 1)
    throw new Error(`the realm of ${realm.host} is active: first natter realm deactivate --host ${realm.host}`);
  return realm.id;
}

interface Unfinished {
  id: number;
  name: string;
  former_host: string;
  wait_seconds: number;
}

async function unfinished(client: pg.Client): Promise<Unfinished[]> {
  const { rows } = await client.query<Unfinished>(
    `SELECT id, name, former_host, least($1, greatest(0, $1 - extract(epoch FROM clock_timestamp() - deletion_started_at)))::float8 AS wait_seconds
    FROM users.realm WHERE deletion_started_at IS NOT NULL ORDER BY id`,
    [graceSeconds],
  );
  return rows;
}

interface Tools {
  client: pg.Client;
  redis: Redis;
  output: Output;
}

/** Each step may be repeated, so an interrupted deletion continues where it was. */
async function finish({ client, redis, output }: Tools, { id, name, former_host, wait_seconds }: Unfinished) {
  output.progress(`deleting ${name} of ${former_host} (id ${id}); waiting until its requests have ended`);
  await new Promise((resolve) => setTimeout(resolve, wait_seconds * 1_000));
  // Without its clock no event of the realm can be committed, and no consumer or job finds the realm.
  await client.query('DELETE FROM log.clock WHERE realm_id = $1', [id]);
  let rows = 0;
  let keys = 0;
  // A transaction that was already running may add a row behind the first pass.
  for (let found = 1; found > 0; ) {
    found = 0;
    for (const table of await tablesOfRealms(client)) {
      const deleted = await deleteRows(client, table, id);
      if (deleted > 0) output.progress(`${table.name}: ${deleted} rows`);
      found += deleted;
    }
    rows += found;
    const forgotten = await forgetKeys(redis, id);
    keys += forgotten;
    found += forgotten;
  }
  await client.query('DELETE FROM users.realm WHERE id = $1 AND deletion_started_at IS NOT NULL', [id]);
  output.progress(`${name} of ${former_host} is deleted: ${rows} rows, ${keys} keys in Redis`);
  return { realm_id: id, host: former_host, name, rows, keys };
}

async function connect(): Promise<Redis> {
  const redis = new Redis(requireEnv('NATTER_REDIS_URL', 'Redis, which holds the end of the log of the realm'), {
    lazyConnect: true,
    maxRetriesPerRequest: 2,
    disableClientInfo: true,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

async function forgetKeys(redis: Redis, realmId: number): Promise<number> {
  let deleted = 0;
  for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `natter:{${realmId}}:*`, 'COUNT', 1_000);
    cursor = next;
    if (keys.length > 0) deleted += await redis.unlink(...keys);
  }
  return deleted;
}
