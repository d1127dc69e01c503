import { type AddressInfo, connect, createServer } from 'node:net';
import { lockOf } from '@natter/contracts';
import { migrate, readMigrations, serviceUrl, untilMigrated } from '@natter/database';
import { bringServers, type Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import released from '../../libs/database/released-migrations.json' with { type: 'json' };
import { dataDirectory } from '../open-system.ts';

let servers: Servers;

beforeAll(async () => {
  servers = await bringServers({ dataDir: await dataDirectory() });
});
afterAll(() => servers?.stop());

async function connected(url = servers.postgresUrl): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function inPostgres(text: string, url = servers.postgresUrl): Promise<Record<string, unknown>[]> {
  const client = await connected(url);
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Migrates, and returns the applied migrations. */
async function migrated(): Promise<string[]> {
  const lines: string[] = [];
  await migrate(servers.postgresUrl, 'secret', (line) => lines.push(line));
  return lines.filter((line) => line.startsWith('migrated '));
}

const withoutChecksum = "SELECT name FROM public.migration WHERE coalesce(checksum, '') !~ '^[0-9a-f]{64}$'";

test('every migration is applied once and stored with its checksum', async () => {
  expect((await migrated())[0]).toBe('migrated 001-log.sql');
  expect(await migrated()).toEqual([]);
  expect(await inPostgres(withoutChecksum)).toEqual([]);
});

test('a run waits for another one, names it, and lets PostgreSQL end sessions of lost machines', async () => {
  const other = new pg.Client({ connectionString: servers.postgresUrl, application_name: 'other run' });
  await other.connect();
  await other.query(`SELECT pg_advisory_lock(${lockOf('migrations').number})`);
  const lines: string[] = [];
  const done = migrate(servers.postgresUrl, 'secret', (line) => lines.push(line));
  await expect.poll(() => lines.join()).toMatch(/another run of the migrations ends: other run \(process \d+\)/);
  await other.end();
  await done;
  const settings = await inPostgres(`SELECT option FROM pg_roles, unnest(rolconfig) AS option
    WHERE rolname = 'natter_users' AND option LIKE 'tcp_keepalives%' ORDER BY option`);
  const seconds = ['tcp_keepalives_count=3', 'tcp_keepalives_idle=15', 'tcp_keepalives_interval=5'];
  expect(settings.map(({ option }) => option)).toEqual(seconds);
});

test('an installation without stored checksums continues', async () => {
  await inPostgres('ALTER TABLE public.migration DROP COLUMN checksum');
  expect(await migrated()).toEqual([]);
  // The runner of the previous release may still apply one without a checksum.
  await inPostgres("UPDATE public.migration SET checksum = NULL WHERE name = '006-presence.sql'");
  expect(await migrated()).toEqual([]);
  expect(await inPostgres(withoutChecksum)).toEqual([]);
});

test('a database that a dump was restored into loses the rights that every new database grants', async () => {
  await inPostgres(`DO $$ BEGIN
    EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO PUBLIC', current_database());
    GRANT CREATE ON SCHEMA public TO PUBLIC;
  END $$`);
  expect(await migrated()).toEqual([]);
  const rights = `SELECT has_database_privilege('natter_users', current_database(), 'TEMPORARY') AS temporary,
    has_schema_privilege('natter_users', 'public', 'CREATE') AS public`;
  expect(await inPostgres(rights)).toEqual([{ temporary: false, public: false }]);
});

test('a migration waits for an unavailable server, and fails without the option to wait', async () => {
  const { hostname, port } = new URL(servers.postgresUrl);
  let isAway = true;
  const proxy = createServer((socket) => {
    if (isAway) return socket.destroy();
    const server = connect(Number(port), hostname);
    for (const end of [socket, server]) end.on('error', () => end.destroy());
    socket.pipe(server).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = new URL(servers.postgresUrl);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const lines: string[] = [];
  await expect(migrate(url.href, 'secret', (line) => lines.push(line))).rejects.toThrow();
  expect(lines).toEqual([]);
  const log = (line: string): void => {
    lines.push(line);
    isAway = false;
  };
  await migrate(url.href, 'secret', log, { waitSeconds: 60 });
  expect(lines[0]).toMatch(/^waiting for PostgreSQL: /);
  await new Promise((resolve) => proxy.close(resolve));
});

test('a migration with a wrong password does not wait', async () => {
  const url = new URL(serviceUrl(servers.postgresUrl, 'users', 'wrong'));
  const lines: string[] = [];
  await expect(migrate(url.href, 'secret', (line) => lines.push(line), { waitSeconds: 60 })).rejects.toThrow(
    /password/,
  );
  expect(lines).toEqual([]);
});

test('a service waits until the schema is the one of its release', async () => {
  const last = (await readMigrations()).at(-1)?.name ?? '';
  const url = serviceUrl(servers.postgresUrl, 'users', 'secret');
  const lines: string[] = [];
  const until = (name: string, seconds: number, onWait: () => void = () => undefined): Promise<void> => {
    const log = (line: string): void => {
      lines.push(line);
      onWait();
    };
    return untilMigrated(url, name, { seconds, log });
  };
  await migrated();
  await until(last, 0);
  await until('001-log.sql', 0);
  await expect(until('999-of-a-newer-release.sql', 0)).rejects.toThrow(`the schema is at "${last}"`);
  expect(lines).toEqual([]);
  // The previous release left no comment.
  await inPostgres('COMMENT ON SCHEMA log IS NULL');
  await expect(until(last, 0)).rejects.toThrow('the schema is at ""');
  let repaired: Promise<unknown> | undefined;
  await until(last, 60, () => {
    repaired ??= migrated();
  });
  await repaired;
  expect(lines).toEqual([`waiting for PostgreSQL: the schema is at "", not yet at "${last}"`]);
});

test('migrations stop if a file differs from the applied one of the same name', async () => {
  const [before] = await inPostgres("SELECT checksum FROM public.migration WHERE name = '002-users.sql'");
  await inPostgres("UPDATE public.migration SET checksum = repeat('0', 64) WHERE name = '002-users.sql'");
  await inPostgres("DELETE FROM public.migration WHERE name = '006-presence.sql'");
  await expect(migrated()).rejects.toThrow('Changed after they were applied: 002-users.sql.');
  expect(await inPostgres("SELECT FROM public.migration WHERE name = '006-presence.sql'")).toEqual([]);
  await inPostgres("INSERT INTO public.migration (name) VALUES ('006-presence.sql')");
  await inPostgres(`UPDATE public.migration SET checksum = '${before?.checksum}' WHERE name = '002-users.sql'`);
  expect(await migrated()).toEqual([]);
});

test('only the owning service may use a table that a migration adds to its schema without a grant', async () => {
  await inPostgres('CREATE TABLE users.added (id serial PRIMARY KEY, name text)');
  const insert = (schema: 'users' | 'channels') =>
    inPostgres(
      "INSERT INTO users.added (name) VALUES ('x') RETURNING id",
      serviceUrl(servers.postgresUrl, schema, 'secret'),
    );
  await expect(insert('users')).rejects.toThrow('permission denied');
  await migrated();
  expect(await insert('users')).toEqual([{ id: 1 }]);
  await expect(insert('channels')).rejects.toThrow('permission denied');
});

test('each migration grants the rights of the services before the next one, for triggers on new tables', async () => {
  await inPostgres('CREATE DATABASE other');
  const url = new URL(servers.postgresUrl);
  url.pathname = '/other';
  await inPostgres(
    `CREATE TABLE public.migration (name text PRIMARY KEY, checksum text, applied_at timestamptz NOT NULL DEFAULT now());
    CREATE FUNCTION public.require_rights() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles r ON r.rolname = 'natter_' || n.nspname
        WHERE n.nspname IN ('users', 'channels', 'messaging', 'presence', 'event_queue') AND c.relkind = 'r'
          AND NOT (has_schema_privilege(r.rolname, n.oid, 'USAGE') AND has_table_privilege(r.rolname, c.oid, 'INSERT, UPDATE')))
      THEN RAISE 'no rights after %', NEW.name; END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER require_rights AFTER INSERT ON public.migration FOR EACH ROW
      WHEN (NEW.name > '008') EXECUTE FUNCTION public.require_rights();`,
    url.href,
  );
  await migrate(url.href, 'secret', () => undefined);
});

const ownSchemas = "'log', 'users', 'channels', 'messaging', 'presence', 'event_queue'";
/** The parts of the schema that statements may name, and the columns that an insert must name. */
const parts = `
  WITH own AS (SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN (${ownSchemas}) AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition),
  attribute AS (SELECT a.* FROM own JOIN pg_attribute a ON a.attrelid = own.oid AND a.attnum > 0 AND NOT a.attisdropped)
  SELECT 'column' AS kind, attrelid::regclass::text AS of, format('%s %s', attname, format_type(atttypid, atttypmod)) AS text FROM attribute
  UNION ALL SELECT 'required', attrelid::regclass::text, attname FROM attribute WHERE attnotnull AND NOT atthasdef AND attidentity = ''
  UNION ALL SELECT 'unique', indrelid::regclass::text, regexp_replace(pg_get_indexdef(indexrelid), '^.* USING', '')
    FROM pg_index JOIN own ON own.oid = indrelid WHERE indisunique
  UNION ALL SELECT 'function', p.oid::regprocedure::text, pg_get_function_result(p.oid)
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname IN (${ownSchemas}) AND p.prorettype <> 'trigger'::regtype`;

test('an upgraded database has the parts of a new one, and all that the previous release names', async () => {
  await inPostgres('CREATE DATABASE upgraded');
  const url = new URL(servers.postgresUrl);
  url.pathname = '/upgraded';
  await inPostgres(
    `CREATE TABLE public.migration (name text PRIMARY KEY, checksum text, applied_at timestamptz NOT NULL DEFAULT now());
    CREATE TABLE public.released (kind text, of text, text text);
    CREATE FUNCTION public.note_parts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO public.released ${parts};
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_parts AFTER INSERT ON public.migration FOR EACH ROW
      WHEN (NEW.name = '${Object.keys(released).sort().at(-1)}') EXECUTE FUNCTION public.note_parts();`,
    url.href,
  );
  await migrate(url.href, 'secret', () => undefined);
  const lines = (rows: Record<string, unknown>[]) =>
    rows.map(({ kind, of, text }) => `${kind} of ${of}: ${text}`).sort();
  const before = await inPostgres('SELECT * FROM public.released', url.href);
  const after = await inPostgres(parts, url.href);
  const [linesBefore, linesAfter] = [new Set(lines(before)), new Set(lines(after))];
  const named = lines(before.filter(({ kind }) => kind !== 'required'));
  expect(named.length).toBeGreaterThan(500);
  expect(named.filter((line) => !linesAfter.has(line))).toEqual([]);
  const tables = new Set(before.map(({ of }) => of));
  const required = lines(after.filter(({ kind, of }) => kind === 'required' && tables.has(of)));
  // Otherwise an insert of the previous release would fail.
  expect(required.filter((line) => !linesBefore.has(line))).toEqual([]);
  expect(lines(after)).toEqual(lines((await inPostgres(parts)).filter(({ of }) => of !== 'users.added')));
});

test('the previous release reads the names that this release stores, and does not replace them with earlier ones', async () => {
  const url = serviceUrl(servers.postgresUrl, 'messaging', 'secret');
  const names = () =>
    inPostgres(
      `SELECT (SELECT full_name FROM messaging.standing WHERE realm_id = 21) AS person,
        (SELECT name FROM messaging.group_name WHERE realm_id = 21) AS group`,
      url,
    );
  // The previous release may apply an event to one projection before the other.
  const former = (name: string) =>
    inPostgres(
      `INSERT INTO messaging.standing (realm_id, user_id, full_name, role, bot_owner_id) VALUES (21, 1, '${name}', 400, NULL) ON CONFLICT DO NOTHING;
      UPDATE messaging.standing SET full_name = coalesce('${name}', full_name), role = coalesce(NULL::int, role) WHERE realm_id = 21 AND user_id = 1;
      INSERT INTO messaging.group_name (realm_id, group_id, name) VALUES (21, 1, '${name}')
      ON CONFLICT (realm_id, group_id) DO UPDATE SET name = excluded.name`,
      url,
    );
  await former('first');
  expect(await names()).toEqual([{ person: 'first', group: 'first' }]);
  await inPostgres(
    `INSERT INTO messaging.person (realm_id, user_id, email, full_name, is_active, is_bot) VALUES (21, 1, '', 'second', true, false);
    INSERT INTO messaging.user_group (realm_id, group_id, name, is_deactivated, can_mention) VALUES (21, 1, 'second', false, '1')`,
    url,
  );
  expect(await names()).toEqual([{ person: 'second', group: 'second' }]);
  await inPostgres(
    "UPDATE messaging.person SET full_name = 'third' WHERE realm_id = 21; UPDATE messaging.user_group SET name = 'third' WHERE realm_id = 21",
    url,
  );
  await former('second');
  expect(await names()).toEqual([{ person: 'third', group: 'third' }]);
  await inPostgres('DELETE FROM messaging.standing WHERE realm_id = 21', url);
  await inPostgres('INSERT INTO messaging.standing (realm_id, user_id, role) VALUES (21, 1, 400)', url);
  expect(await names()).toEqual([{ person: 'third', group: 'third' }]);
});

test('the copy of a name is right if a user is added and renamed in transactions that do not see each other, without deadlocks', async () => {
  const url = serviceUrl(servers.postgresUrl, 'messaging', 'secret');
  const [people, notices] = [await connected(url), await connected(url)];
  onTestFinished(async () => void (await Promise.all([people.end(), notices.end()])));
  const add = `INSERT INTO messaging.person (realm_id, user_id, email, full_name, is_active, is_bot) VALUES (22, 1, '', 'first', true, false)`;
  const rename = "UPDATE messaging.person SET full_name = 'second' WHERE realm_id = 22 AND user_id = 1";
  const copy = 'INSERT INTO messaging.standing (realm_id, user_id, role) VALUES (22, 1, 400) ON CONFLICT DO NOTHING';
  const names =
    'SELECT p.full_name AS name, s.full_name AS copy FROM messaging.person p JOIN messaging.standing s USING (realm_id, user_id) WHERE realm_id = 22';
  const both = async (first: [pg.Client, string], second: [pg.Client, string]) => {
    await first[0].query(`BEGIN; ${first[1]}`);
    const done = second[0].query(second[1]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await first[0].query('COMMIT');
    await done;
    return (await people.query(names)).rows;
  };
  const removal =
    'DELETE FROM messaging.person WHERE realm_id = 22; DELETE FROM messaging.standing WHERE realm_id = 22';
  expect(await both([people, add], [notices, copy])).toEqual([{ name: 'first', copy: 'first' }]);
  await notices.query('BEGIN; UPDATE messaging.standing SET role = 300 WHERE realm_id = 22');
  await people.query(`BEGIN; ${add.replace('22, 1', '22, 2')}`);
  await Promise.all([notices.query(`${copy.replace('22, 1', '22, 3')}; COMMIT`), people.query(`${rename}; COMMIT`)]);
  await people.query(`${removal}; ${add}`);
  expect(await both([people, rename], [notices, copy])).toEqual([{ name: 'second', copy: 'second' }]);
  await people.query(removal);
  expect(await both([notices, copy], [people, add])).toEqual([{ name: 'first', copy: 'first' }]);
  await people.query(`${removal}; ${add}`);
  expect(await both([notices, copy], [people, rename])).toEqual([{ name: 'second', copy: 'second' }]);
});

test('the migration of the copies of names locks no table that sends read while it waits for another one', async () => {
  await inPostgres(`DROP TABLE messaging.group_name; DROP INDEX messaging.mute_change_unfinished;
    DROP FUNCTION messaging.copy_group_name, messaging.take_group_name, messaging.copy_person_name, messaging.take_person_name CASCADE;
    ALTER TABLE messaging.standing DROP COLUMN full_name; DELETE FROM public.migration WHERE name >= '088' AND name < '090'`);
  const writer = await connected();
  await writer.query('BEGIN; LOCK TABLE messaging.person IN ROW EXCLUSIVE MODE');
  const done = migrated();
  const waiting = `SELECT EXISTS (SELECT FROM pg_locks h WHERE h.pid = w.pid AND h.granted AND h.mode = 'AccessExclusiveLock'
      AND h.relation = 'messaging.standing'::regclass) AS "blocksSends"
    FROM pg_locks w WHERE NOT w.granted AND w.relation = 'messaging.person'::regclass`;
  await expect.poll(() => inPostgres(waiting)).toEqual([{ blocksSends: false }]);
  await writer.end();
  expect((await done)[0]).toBe('migrated 088-beside-the-previous-release.sql');
});

describe('a migration that builds an index of a large table', () => {
  const file = '090-ended-periods.sql';
  const index = `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('messaging.subscription_period_ended')`;
  /** A transaction with a snapshot, for which the build waits after it has created the index. */
  let reader: pg.Client;

  beforeEach(async () => {
    await inPostgres(
      `DROP INDEX messaging.subscription_period_ended; DELETE FROM public.migration WHERE name = '${file}'`,
    );
    reader = await connected();
    await reader.query(
      "SET application_name = 'long reader'; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class",
    );
  });
  afterEach(() => reader.end());

  /** Begins a run of the migrations. Returns when the build waits for the reader. */
  async function building(): Promise<{ done: Promise<unknown>; pid: number; lines: string[] }> {
    const lines: string[] = [];
    const done = migrate(servers.postgresUrl, 'secret', (line) => lines.push(line)).catch((error: Error) => error);
    await expect
      .poll(() => lines.join())
      .toMatch(new RegExp(`^${file} waits until transactions of others end: long reader \\(process \\d+\\)$`));
    const [build] = await inPostgres(
      "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%CONCURRENTLY%' AND pid <> pg_backend_pid()",
    );
    return { done, pid: Number(build?.pid), lines };
  }

  test('blocks no writer of the table, and names the transactions for which it waits', async () => {
    const { done, lines } = await building();
    expect(await inPostgres(index)).toEqual([{ indisvalid: false }]);
    const url = serviceUrl(servers.postgresUrl, 'messaging', 'secret');
    await inPostgres(
      "SET lock_timeout = '50ms'; INSERT INTO messaging.subscription_period (realm_id, channel_id, user_id, from_id, to_id) VALUES (23, 1, 1, 1, 2)",
      url,
    );
    await reader.query('COMMIT');
    expect(await done).toBeUndefined();
    expect(lines.at(-1)).toBe(`migrated ${file}`);
    expect(await inPostgres(index)).toEqual([{ indisvalid: true }]);
  });

  test('is repeated if it was interrupted, or if its process ended before it was noted', async () => {
    const { done, pid } = await building();
    await inPostgres(`SELECT pg_terminate_backend(${pid})`);
    expect(await done).toBeInstanceOf(Error);
    expect(await inPostgres(index)).toEqual([{ indisvalid: false }]);
    await reader.query('COMMIT');
    expect(await migrated()).toEqual([`migrated ${file}`]);
    expect(await inPostgres(index)).toEqual([{ indisvalid: true }]);
    await inPostgres(`DELETE FROM public.migration WHERE name = '${file}'`);
    expect(await migrated()).toEqual([`migrated ${file}`]);
    expect(await inPostgres(withoutChecksum)).toEqual([]);
  });
});

test('the owners of the log and its functions are restored after a dump without owners', async () => {
  const owners = `SELECT p.oid::regprocedure::text AS name, p.proowner::regrole::text AS owner FROM pg_proc p
    WHERE p.pronamespace = 'log'::regnamespace
    UNION ALL SELECT 'log.event', relowner::regrole::text FROM pg_class WHERE oid = 'log.event'::regclass ORDER BY 1`;
  const before = await inPostgres(owners);
  const own = before.filter(({ owner }) => owner === 'natter_log');
  expect(own.length).toBeGreaterThanOrEqual(13);
  await inPostgres('ALTER TABLE log.event OWNER TO CURRENT_USER');
  for (const { name } of own) await inPostgres(`ALTER FUNCTION ${name} OWNER TO CURRENT_USER`);
  expect(await inPostgres(owners)).not.toEqual(before);
  expect(await migrated()).toEqual([]);
  expect(await inPostgres(owners)).toEqual(before);
  const mayCreate = "SELECT has_schema_privilege('natter_log', 'log', 'CREATE') AS may";
  expect(await inPostgres(mayCreate)).toEqual([{ may: false }]);
});

test('realm settings that name an archived channel are cleared, and clients receive an event', async () => {
  const { text = '' } = (await readMigrations()).find(({ name }) => name === '062-archived-channels.sql') ?? {};
  await inPostgres(`
    INSERT INTO users.realm (id, host, name, settings) OVERRIDING SYSTEM VALUE SELECT id, 'host ' || id, '', jsonb_build_object(
      'signup_announcements_stream_id', id, 'moderation_request_channel_id', 13, 'waiting_period_threshold', 11) FROM unnest(ARRAY[11, 12]) id;
    INSERT INTO channels.channel (id, realm_id, name, permissions, is_archived) OVERRIDING SYSTEM VALUE
      VALUES (11, 11, 'archived', '{}', true), (12, 12, 'in use', '{}', false), (13, 12, 'of another realm', '{}', true);
    SELECT log.create_realm(id) FROM unnest(ARRAY[11, 12]) id`);
  for (let times = 0; times < 2; times++) await inPostgres(text);
  expect(await inPostgres('SELECT id, settings FROM users.realm WHERE id IN (11, 12) ORDER BY id')).toEqual([
    {
      id: 11,
      settings: { signup_announcements_stream_id: -1, moderation_request_channel_id: 13, waiting_period_threshold: 11 },
    },
    {
      id: 12,
      settings: { signup_announcements_stream_id: 12, moderation_request_channel_id: -1, waiting_period_threshold: 11 },
    },
  ]);
  const told =
    "SELECT realm_id, source, event->'body'->'data' AS data FROM log.event WHERE realm_id IN (11, 12) ORDER BY 1";
  expect(await inPostgres(told)).toEqual([
    { realm_id: 11, source: 'users', data: { signup_announcements_stream_id: -1 } },
    { realm_id: 12, source: 'users', data: { moderation_request_channel_id: -1 } },
  ]);
  const began =
    "SELECT realm_id, position::int FROM users.consumer WHERE name = 'archived-channels' AND realm_id IN (11, 12)";
  expect(await inPostgres(`${began} ORDER BY 1`)).toEqual([
    { realm_id: 11, position: 0 },
    { realm_id: 12, position: 0 },
  ]);
});
