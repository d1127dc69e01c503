import { userOperations } from '@natter/contracts';
import type { System } from '@natter/local/system';
import { type Bus, connectBus, createLogger, createMetrics } from '@natter/service-kit';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDirectory, openSystem } from '../open-system.ts';
import { operatorSettings, runNatter } from '../operator-command.ts';
import { type StatementGate, statementGate } from '../statement-gate.ts';

/** How many creations are stopped at once; each is stopped one message later than the one before. */
const atOnce = 4;

let system: System;
let settings: Record<string, string>;
let bus: Bus;
let postgres: pg.Client;
const gates: Partial<Record<string, StatementGate>> = {};
beforeAll(async () => {
  const dataDir = await dataDirectory();
  system = await openSystem({
    dataDir,
    gateways: 1,
    between: async ({ program, server, url }) => {
      if (server !== 'postgres' || (program !== 'users' && program !== 'channels')) return url;
      const gate = await statementGate(url);
      gates[program] = gate;
      return gate.url;
    },
  });
  settings = await operatorSettings(system, dataDir);
  const [log, metrics] = [createLogger('test', 'fatal'), createMetrics('test')];
  bus = await connectBus({ url: system.natsUrl, name: 'operator', log, metrics });
  postgres = new pg.Client({ connectionString: system.servers.postgresUrl });
  await postgres.connect();
});
afterAll(async () => {
  await bus?.drain();
  await postgres?.end();
  await system?.stop();
  for (const gate of Object.values(gates)) gate?.close();
});

const gateOf = (program: 'users' | 'channels'): StatementGate => {
  const gate = gates[program];
  if (!gate) throw new Error(`no gate for ${program}`);
  return gate;
};

async function killed(program: 'users' | 'channels'): Promise<void> {
  const child = system.children.find((each) => each.program === program);
  const before = child?.pid();
  child?.kill('SIGKILL');
  await expect.poll(() => child?.pid()).not.toBe(before);
  await child?.ready();
}

const ownerOf = (host: string) => ({ email: `o@${host}`, full_name: 'Owner', password: 'correct horse battery' });

const create = (host: string) =>
  bus.call(
    userOperations.createRealm,
    {
      host,
      realm_name: `Of ${host}`,
      is_default: false,
      realm_url: undefined,
      owner: { ...ownerOf(host), first_channels: ['general', 'sandbox'] },
    },
    { meta: { requestId: host, realmId: 0, client: 'test' } },
  );

function command(host: string, killed?: AbortSignal) {
  const args = ['realm', 'create', '--host', host, '--name', `Of ${host}`, '--owner-email', `o@${host}`];
  return runNatter(settings, args, undefined, killed);
}

/** Rows that belong to the realm of a host, by what they are. */
async function contents(host: string): Promise<Record<string, unknown>> {
  const { rows } = await postgres.query(
    `SELECT r.name,
      (SELECT count(*)::int FROM log.clock c WHERE c.realm_id = r.id) AS clocks,
      (SELECT count(*)::int FROM users.user_group g WHERE g.realm_id = r.id) AS groups,
      ARRAY(SELECT a.email || ' ' || a.role FROM users.account a WHERE a.realm_id = r.id ORDER BY a.id) AS accounts,
      (SELECT count(*)::int FROM users.api_key k JOIN users.account a ON a.id = k.user_id WHERE a.realm_id = r.id) AS keys,
      ARRAY(SELECT c.name FROM channels.channel c WHERE c.realm_id = r.id AND c.is_default ORDER BY c.name) AS channels,
      ARRAY(SELECT a.email || ' ' || c.name FROM channels.subscription s JOIN channels.channel c ON c.id = s.channel_id
        JOIN users.account a ON a.id = s.user_id WHERE c.realm_id = r.id AND s.is_active ORDER BY 1) AS subscriptions,
      (SELECT count(*)::int FROM channels.parked_event p WHERE p.realm_id = r.id) AS parked
    FROM (SELECT $1::text AS host) asked LEFT JOIN users.realm r ON r.host = asked.host`,
    [host],
  );
  return rows[0];
}

const nothing = {
  name: null,
  clocks: 0,
  groups: 0,
  accounts: [],
  keys: 0,
  channels: [],
  subscriptions: [],
  parked: 0,
};
const everything = (host: string) => ({
  name: `Of ${host}`,
  clocks: 1,
  groups: 8,
  accounts: [`notification-bot@${host} 400`, `welcome-bot@${host} 400`, `o@${host} 100`],
  keys: 1,
  channels: ['general', 'sandbox'],
  subscriptions: [`o@${host} general`, `o@${host} sandbox`],
  parked: 0,
});
const complete = (host: string) => expect.poll(() => contents(host)).toEqual(everything(host));

test('a realm whose creation is killed before any statement does not exist, and the next run creates it', async () => {
  const stoppedAt: string[] = [];
  for (let first = 0, isOver = false; !isOver; first += atOnce) {
    const hosts = Array.from({ length: atOnce }, (_, index) => `k${first + index}.example`);
    const stops = hosts.map((host, index) => gateOf('users').stopAt(host, first + index));
    for (const host of hosts) create(host).catch(() => undefined);
    const results = await Promise.all(stops);
    await killed('users');
    for (const [index, host] of hosts.entries()) {
      if (results[index] === 'over') isOver = true;
      else stoppedAt.push(host);
    }
  }
  expect(stoppedAt.length).toBeGreaterThan(30);
  for (const host of stoppedAt) await expect.poll(() => contents(host)).toEqual(nothing);
  for (const host of stoppedAt) expect(await create(host)).toMatchObject({ is_new: true });
  for (const host of stoppedAt) await complete(host);
});

test('default channels exist even if channels is killed before any statement that creates them', async () => {
  let statements = 0;
  for (let isOver = false; !isOver; statements++) {
    const host = `c${statements}.example`;
    const stop = gateOf('channels').stopAt(`o@${host}`, statements);
    await create(host);
    isOver = (await stop) === 'over';
    if (isOver) gateOf('channels').release();
    else await killed('channels');
    await complete(host);
  }
  expect(statements).toBeGreaterThan(5);
});

/** Runs the command until its creation is stopped in users, kills it, and lets users go on. */
async function killedWhile(host: string, number: number | 'committed'): Promise<void> {
  const stop = gateOf('users').stopAt(host, number);
  const kill = new AbortController();
  const running = command(host, kill.signal);
  expect(await stop).toBe('stopped');
  kill.abort();
  expect((await running).code).toBe(-1);
  gateOf('users').release();
}

test('a realm whose command is killed before the commit is complete after the next run', async () => {
  const host = 'before.example';
  await killedWhile(host, 5);
  // Postgres ends a transaction that waited for too long: then the next run creates the realm.
  await command(host);
  await complete(host);
});

test('a command that is killed before the response leaves a complete realm, which the next run describes', async () => {
  const host = 'answer.example';
  await killedWhile(host, 'committed');
  await complete(host);
  const again = await command(host);
  expect([again.code, again.output]).toEqual([1, expect.stringMatching(new RegExp(`exists already .*Of ${host}`))]);
  expect(again.output).toContain(`natter key create --host ${host} --email o@${host}`);
  await complete(host);
});

test('a command that is killed after the creation leaves a realm that later gets its default channels', async () => {
  const host = 'late.example';
  const stop = gateOf('channels').stopAt(`o@${host}`, 1);
  const kill = new AbortController();
  const running = command(host, kill.signal);
  expect(await stop).toBe('stopped');
  kill.abort();
  expect((await running).code).toBe(-1);
  await killed('channels');
  await complete(host);
});

test('a second default realm is rejected, also if both are created at once', async () => {
  const createDefault = (host: string) =>
    runNatter(settings, ['realm', 'create', '--host', host, '--name', host, '--owner-email', `o@${host}`, '--default']);
  const results = await Promise.all(['one.example', 'two.example'].map(createDefault));
  for (const { code, output } of results)
    expect([code, output]).toEqual([1, expect.stringContaining('localhost is the default realm already')]);
  expect((await contents('one.example')).name).toBeNull();
  await postgres.query("UPDATE users.realm SET is_default = false WHERE host = 'localhost'");
  const [first, second] = await Promise.all(['three.example', 'four.example'].map(createDefault));
  expect([first?.code, second?.code].sort()).toEqual([0, 1]);
  const { rows } = await postgres.query('SELECT host FROM users.realm WHERE is_default');
  expect(rows).toEqual([{ host: first?.code === 0 ? 'three.example' : 'four.example' }]);
});
