import { rm } from 'node:fs/promises';
import { migrate, type ServiceSchema, serviceUrl } from '@natter/database';
import { connectRedis, type LogRedis } from '@natter/event-log';
import { bringServers, type Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDirectory } from '../open-system.ts';
import { runSchedule } from '../simulation/schedule.ts';
import type { Executed, Result, Session } from '../simulation/servers/postgres/call.ts';
import { startOfStandIn } from '../simulation/servers/postgres/shapes-consumers.ts';
import type { RedisServer } from '../simulation/servers/redis/redis-server.ts';

/**
 * The simulation depends on its stand-ins: the requests that simulated services sent to them are repeated on the real
 * servers, in the same order, and every answer is compared.
 */

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
const schedules = 25;

let servers: Servers;
let dataDir: string;
let admin: pg.Client;
let redis: LogRedis;
beforeAll(async () => {
  dataDir = await dataDirectory();
  servers = await bringServers({ dataDir, fresh: true });
  await migrate(servers.postgresUrl, 'secret', () => undefined);
  admin = new pg.Client({ connectionString: servers.postgresUrl });
  await admin.connect();
  await admin.query(`
    CREATE SCHEMA simulated;
    CREATE TABLE simulated.message (realm_id int, id bigint, content text, PRIMARY KEY (realm_id, id));
    CREATE TABLE simulated.account (realm_id int, user_id int, changes int, PRIMARY KEY (realm_id, user_id));
    CREATE TABLE simulated.person (realm_id int, user_id int, changes int, applied int[], PRIMARY KEY (realm_id, user_id));
    GRANT USAGE ON SCHEMA simulated TO PUBLIC;
    GRANT ALL ON ALL TABLES IN SCHEMA simulated TO PUBLIC`);
  await new Promise<void>((resolve) => {
    redis = connectRedis(servers.redisUrl, (state) => state === 'up' && resolve());
  });
});
afterAll(async () => {
  redis?.close();
  await admin?.end();
  await servers?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test(`PostgreSQL responds like its stand-in in ${schedules} schedules from seed ${seed}`, async () => {
  const beginnings = new Set<string>();
  for (let one = seed; one < seed + schedules; one++) {
    const executed: Step[] = [];
    let realms = 0;
    const outcome = await runSchedule(one, {
      isCalm: true,
      onStart: ({ postgres }) => {
        postgres.onExecuted = (statement) => {
          executed.push(statement);
          realms = postgres.store.table('log.clock').size;
        };
        postgres.onClosed = (session) => executed.push({ closed: session });
      },
    });
    expect(outcome.violations).toEqual([]);
    await emptyTables(realms);
    await replay(executed, one);
    for (const step of executed) if ('text' in step) beginnings.add(step.text.trim().slice(0, 60));
  }
  console.log(`${beginnings.size} kinds of texts were compared`);
  expect(beginnings.size).toBeGreaterThan(30);
});

async function emptyTables(realms: number): Promise<void> {
  const schemas = ['users', 'messaging', 'event_queue'];
  const own = schemas.flatMap((schema) => [`${schema}.consumer`, `${schema}.idempotency`, `${schema}.parked_event`]);
  await admin.query(`
    TRUNCATE log.clock, log.version, log.event, event_queue.queue, event_queue.outage, simulated.message, simulated.account, simulated.person, ${own.join(', ')};
    INSERT INTO log.clock (realm_id, last_at) SELECT realm, to_timestamp(0) FROM generate_series(1, ${realms}) realm;
    INSERT INTO simulated.account SELECT realm, person, 0 FROM generate_series(1, ${realms}) realm, generate_series(7, 8) person;
    UPDATE event_queue.alive SET at = now()`);
}

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === 20 ? Number : pg.types.getTypeParser(oid, format as 'text'),
};

/** A statement with its result, or the end of a session. */
type Step = Executed | { closed: Session };

async function replay(steps: readonly Step[], of: number): Promise<void> {
  const clients = new Map<Session, pg.Client>();
  const closed = new Set<Session>();
  const { rows } = await admin.query('SELECT extract(epoch FROM pg_postmaster_start_time())::text AS server');
  try {
    for (const step of steps) {
      if ('closed' in step) {
        closed.add(step.closed);
        await clients.get(step.closed)?.end();
        continue;
      }
      const { session, role, text, parameters, outcome } = step;
      // Its client disconnected while it ran: it has no effect on either server.
      if (closed.has(session)) continue;
      let client = clients.get(session);
      if (!client) {
        const connectionString = serviceUrl(servers.postgresUrl, role as ServiceSchema, 'secret');
        client = new pg.Client({ connectionString, types: types as pg.CustomTypesConfig });
        await client.connect();
        clients.set(session, client);
      }
      const given = parameters.map((value) => (value === startOfStandIn ? rows[0].server : value));
      const real = await client.query(atAnyPace(text, outcome), parameters.length > 0 ? given : undefined).then(
        (results) => (Array.isArray(results) ? results : [results]) as Result[],
        (error: Error) => error,
      );
      // The schedule passes faster here: outages that extend queues are shorter.
      if (/UPDATE event_queue\.alive|event_queue\.alive WHERE at = /.test(text)) expect(real).not.toBeInstanceOf(Error);
      else expect(comparable(real), `seed ${of}: ${text}`).toEqual(comparable(outcome));
    }
  } finally {
    const open = [...clients].filter(([session]) => !closed.has(session));
    await Promise.all(open.map(([, client]) => client.end()));
  }
}

/**
 * The statements of one transaction follow each other at another pace here. So it may be idle for longer than its service
 * permits, and a deadline that it met in the schedule does not end it.
 */
function atAnyPace(text: string, outcome: Result[] | Error): string {
  const patient = text.replace(/(idle_in_transaction_session_timeout) = '?\w+'?/g, '$1 = 0');
  return outcome instanceof Error
    ? patient
    : patient.replace(/log\.check_deadline\([1-9]\d*\)/g, 'log.check_deadline(600000)');
}

/** Values that differ between servers are omitted: marks, times, keys, names of snapshots, tries of other times. */
function comparable(outcome: Result[] | Error): unknown {
  if (outcome instanceof Error) {
    const { code, constraint, detail } = outcome as Error & Partial<Record<'code' | 'constraint' | 'detail', string>>;
    // The key that is taken.
    return constraint === undefined ? (code ?? outcome.message) : [code, constraint, detail];
  }
  return outcome.map(({ rows, rowCount }) => ({
    rows: rows.map((row) => JSON.stringify(canonical(row))).sort(),
    rowCount: rowCount ?? 0,
  }));
}

const differing = new Set(['mark', 'marks', 'previous_mark', 'at', 'ended', 'key', 'id', 'server', 'tries']);

/** Sorted keys, because jsonb has its own order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, part]) => [name, differing.has(name) ? null : canonical(part)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** A call of the Redis stand-in, and its result. */
interface Asked {
  name: keyof RedisServer;
  args: unknown[];
  given: unknown;
}

test(`Redis responds like its stand-in in ${schedules} schedules from seed ${seed}`, async () => {
  const statuses = new Set<unknown>();
  let compared = 0;
  for (let one = seed; one < seed + 3 * schedules; one++) {
    const asked: Asked[] = [];
    await runSchedule(one, { onStart: (system) => listen(system.redis, asked) });
    await redis.redis.flushall();
    const runId = await redis.runId();
    for (const { name, args, given } of asked) {
      // A Redis process with older data cannot be reproduced here.
      if (name === 'save' || name === 'restart') break;
      const real = await askRedis(name, JSON.parse(JSON.stringify(args).replaceAll('"run1"', JSON.stringify(runId))));
      expect(real, `seed ${one}: ${name} ${JSON.stringify(args)}`).toEqual(
        name === 'poll' ? numbered(given) : (given ?? null),
      );
      compared++;
      if (Array.isArray(given)) statuses.add(given[0]);
    }
  }
  console.log(`${compared} commands were compared`);
  for (const status of ['ok', 'gap']) expect(statuses).toContain(status);
});

const listened = [
  'append',
  'appendEphemeral',
  'poll',
  'range',
  'xentry',
  'hmget',
  'set',
  'del',
  'flush',
  'save',
  'restart',
] as const;

function listen(server: RedisServer, asked: Asked[]): void {
  for (const name of listened) {
    const original = server[name] as (...args: unknown[]) => unknown;
    Object.assign(server, {
      [name]: (...args: unknown[]) => {
        const inner = asked.length;
        const given = original(...args);
        // Commands within a script are part of it.
        asked.length = inner;
        asked.push({ name, args, given: structuredClone(typeof given === 'function' ? undefined : given) });
        return given;
      },
    });
  }
}

/** The number of a poll is a timestamp. */
const numbered = (given: unknown): unknown => {
  const [record, number, by] = given as [unknown, number, unknown];
  return [record, number > 0, by];
};

async function askRedis(name: keyof RedisServer, args: unknown[]): Promise<unknown> {
  const [first, second, third] = args as [string, string, number];
  switch (name) {
    case 'append':
      return redis.appendScript(args[0] as [string, string], args[1] as string[]);
    case 'appendEphemeral':
      return redis.ephemeralScript(args[0] as [string, string], args[1] as string[]);
    case 'poll':
      return numbered(await redis.pollScript(args[0] as [string, string], args[1] as [number, string, number]));
    case 'range': {
      const { isAtEnd, rows } = await redis.rangeScript(first, second, { entries: third, bytes: 1e9 });
      return [isAtEnd, rows];
    }
    case 'xentry':
      return redis.redis.xrevrange(first, second, second);
    case 'hmget':
      return redis.redis.hmget(first, ...(args.slice(1) as string[]));
    case 'set':
      return (args[2] ? redis.redis.set(first, second, 'NX') : redis.redis.set(first, second)).then(() => null);
    case 'del':
      return redis.redis.del(...(args as string[])).then(() => null);
    case 'flush':
      return redis.redis.flushall().then(() => null);
    default:
      throw new Error(`${name} is not compared`);
  }
}
