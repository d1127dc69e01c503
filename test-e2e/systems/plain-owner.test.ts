import { lockOf } from '@natter/contracts';
import { prepareOwnerSession } from '@natter/database';
import { bringServers, type Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDirectory } from '../open-system.ts';
import { runNatter } from '../operator-command.ts';

let servers: Servers;
let url: URL;

/** The owner of the database is no superuser, and makes the roles of the services. */
beforeAll(async () => {
  servers = await bringServers({ dataDir: await dataDirectory() });
  url = new URL(servers.postgresUrl);
  Object.assign(url, { username: 'plain', password: 'plain', pathname: '/owned' });
  await inPostgres("CREATE ROLE plain LOGIN CREATEROLE PASSWORD 'plain'", servers.postgresUrl);
  await inPostgres('CREATE DATABASE owned OWNER plain', servers.postgresUrl);
});
afterAll(() => servers?.stop());

async function inPostgres(text: string, at = url.href): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: at, statement_timeout: 60_000 });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

function natter(...args: string[]): Promise<{ code: number; output: string }> {
  const settings = {
    NATTER_POSTGRES_ADMIN_URL: url.href,
    NATTER_REDIS_URL: servers.redisUrl,
    NATTER_SECRET: 'of this test',
  };
  return runNatter(settings, args);
}

/** The owners of the functions of the log, and of the table to which partitions are attached. */
const owners = `SELECT p.oid::regprocedure::text AS name, p.proowner::regrole::text AS owner FROM pg_proc p
  WHERE p.pronamespace = 'log'::regnamespace
  UNION ALL SELECT 'log.event', relowner::regrole::text FROM pg_class WHERE oid = 'log.event'::regclass ORDER BY 1`;
const rightsToCreate = `SELECT rolname FROM pg_roles WHERE rolname LIKE 'natter\\_%' AND has_schema_privilege(rolname, 'log', 'CREATE')`;

test('an owner who may only create roles migrates an empty database, and again', async () => {
  expect(await natter('migrate')).toMatchObject({ code: 0, output: expect.stringContaining('migrated 039-') });
  expect(await natter('migrate')).toMatchObject({ code: 0, output: expect.not.stringContaining('migrated 0') });
  expect(await natter('migrate', '--set-passwords')).toMatchObject({ code: 0 });
  expect(await inPostgres(rightsToCreate)).toEqual([]);
  expect(await inPostgres(owners)).toEqual(
    expect.arrayContaining([
      { name: 'log.event', owner: 'natter_event_queue' },
      { name: 'log.read_some(integer,bigint,integer,integer)', owner: 'natter_log' },
    ]),
  );
});

test('such an owner begins new epochs after a restore', async () => {
  await inPostgres('SELECT log.create_realm(1)');
  const { code, output } = await natter('after-restore');
  expect([code, output]).toEqual([0, expect.stringContaining('1 realms begin a new epoch')]);
});

/** The same state as after a dump without owners was restored on a server where this owner has created the roles. */
test('such an owner gives the log to its roles, although no member of them', async () => {
  const before = await inPostgres(owners);
  await inPostgres('ALTER TABLE log.event OWNER TO CURRENT_USER');
  for (const { name, owner } of before)
    if (owner === 'natter_log') await inPostgres(`ALTER FUNCTION ${name} OWNER TO CURRENT_USER`);
  await inPostgres('REVOKE natter_log, natter_event_queue FROM CURRENT_USER');
  const { code, output } = await natter('migrate');
  expect([code, output]).toEqual([0, expect.anything()]);
  expect(await inPostgres(owners)).toEqual(before);
  expect(await inPostgres(rightsToCreate)).toEqual([]);
});

/** Runs a command that waits for a lock for longer than the limits of the database. */
async function whileLocked(lock: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const holder = new pg.Client({ connectionString: url.href });
  await holder.connect();
  await prepareOwnerSession(holder);
  await holder.query('BEGIN');
  await holder.query(lock);
  const ran = natter(...args);
  await expect.poll(async () => (await inPostgres(waiting, servers.postgresUrl)).length).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await holder.end();
  return ran;
}
const waiting = "SELECT FROM pg_stat_activity WHERE datname = 'limited' AND wait_event_type = 'Lock'";

test('limits of the database end no migration, no new epochs and no deletion of a realm', async () => {
  const [{ version } = {}] = await inPostgres("SELECT current_setting('server_version_num')::int AS version");
  await inPostgres('CREATE DATABASE limited OWNER plain', servers.postgresUrl);
  const limits = [
    "statement_timeout = '15ms'",
    "idle_in_transaction_session_timeout = '15ms'",
    "idle_session_timeout = '2s'",
  ];
  if (Number(version) >= 170_000) limits.push("transaction_timeout = '200ms'");
  for (const limit of limits) await inPostgres(`ALTER DATABASE limited SET ${limit}`, servers.postgresUrl);
  url.pathname = '/limited';
  const succeeds = async (ran: Promise<{ code: number; output: string }>): Promise<void> => {
    const { code, output } = await ran;
    expect([code, output]).toEqual([0, output]);
  };
  await succeeds(natter('migrate'));
  const partitions = `SELECT pg_advisory_xact_lock(${lockOf('partitions').number})`;
  await succeeds(whileLocked(partitions, 'migrate'));
  await inPostgres('SELECT log.create_realm(1)');
  await succeeds(whileLocked('SELECT FROM log.clock FOR UPDATE', 'after-restore'));
  // The command waits for five seconds until requests have ended, and its session is idle.
  await inPostgres(`INSERT INTO users.realm (id, host, name, deletion_started_at) OVERRIDING SYSTEM VALUE
    VALUES (1, 'deleted/1', 'Old', now() - interval '15 seconds')`);
  await succeeds(whileLocked('SELECT FROM log.clock FOR UPDATE', 'realm', 'delete', '--unfinished'));
});
