import { writeFileSync } from 'node:fs';
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type ServiceProgram, servicePrograms } from '@natter/contracts';
import type { Child } from '@natter/local/child';
import { Redis } from 'ioredis';
import pg from 'pg';
import { unableToSave } from '../failed-saves.ts';
import { endConnections } from './ended-connections.ts';
import { type Fault, lastsMs, pause } from './fault.ts';
import { networkFaults } from './network-faults.ts';
import type { World } from './world.ts';

const clockMs = 300_000;

/** Every fault, in the order in which the documentation lists them. */
export function faultsOf(world: World, random: () => number): Fault[] {
  const single = [...processFaults(world, random), ...serverFaults(world), ...networkFaults(world, random)];
  return [...single, ...pairs(single, random)];
}

function processFaults(world: World, random: () => number): Fault[] {
  const { system } = world;
  const of = (program: ServiceProgram): Child[] => system.children.filter((child) => child.program === program);
  const one = (program: ServiceProgram): Child[] =>
    of(program)
      .slice(0, 1 + Math.floor(random() * 2))
      .slice(-1);
  const kill = (name: string, victims: () => Child[], kind: Fault['kind']): Fault => ({
    name: `kill ${name}`,
    kind,
    async cause() {
      const all = victims();
      const pids = all.map((child) => child.pid());
      for (const child of all) child.kill('SIGKILL');
      while (all.some((child, index) => child.pid() === pids[index])) await pause(20);
      await Promise.all(all.map((child) => child.ready()));
    },
  });
  const stop = (name: string, victims: () => Child[]): Fault => ({
    name: `stop ${name}`,
    kind: 'lasting',
    async cause() {
      const all = victims();
      for (const child of all) child.kill('SIGSTOP');
      await pause(lastsMs);
      for (const child of all) child.kill('SIGCONT');
    },
  });
  return [
    ...servicePrograms.map((program) => kill(program, () => one(program), 'instant')),
    kill('every gateway', () => of('gateway'), 'lasting'),
    kill('every messaging', () => of('messaging'), 'lasting'),
    ...servicePrograms.map((program) => stop(program, () => one(program))),
    stop('every gateway', () => of('gateway')),
    {
      name: 'clocks moved by five minutes',
      kind: 'instant',
      async cause() {
        const moved = system.children.map((child) => [child.pid(), (Math.floor(random() * 3) - 1) * clockMs]);
        await world.moveClocks(Object.fromEntries(moved));
        await pause(lastsMs);
        await world.moveClocks({});
      },
    },
  ];
}

function serverFaults(world: World): Fault[] {
  const { redis, nats, postgres } = world.system.servers;
  const servers = { redis, nats, postgres };
  const names = ['redis', 'nats', 'postgres'] as const;
  const restart = (name: (typeof names)[number], awayMs: number): Fault => ({
    name: awayMs > 0 ? `${name} gone` : `${name} restarted`,
    kind: awayMs > 0 ? 'lasting' : 'instant',
    async cause() {
      await servers[name].kill('SIGKILL');
      await pause(awayMs);
      await servers[name].start();
    },
  });
  const paused = (name: (typeof names)[number]): Fault => ({
    name: `${name} paused`,
    kind: 'lasting',
    async cause() {
      await servers[name].kill('SIGSTOP');
      await pause(lastsMs);
      await servers[name].kill('SIGCONT');
    },
  });
  const slow = (server: (typeof names)[number], ms: number): Fault => ({
    name: `${server} slow (${ms} ms each way)`,
    kind: 'lasting',
    async cause() {
      const all = world.proxies.filter((one) => one.server === server);
      for (const { proxy } of all) proxy.delay(ms);
      await pause(lastsMs);
      for (const { proxy } of all) proxy.heal();
    },
  });
  return [
    ...names.map((name) => restart(name, 0)),
    ...names.map((name) => restart(name, lastsMs)),
    ...names.map(paused),
    slow('redis', 300),
    slow('nats', 50),
    slow('postgres', 20),
    ...redisFaults(world),
    ...postgresFaults(world),
  ];
}

function redisFaults({ system }: World): Fault[] {
  const configured = (name: string, begin: string[], end: string[]): Fault => ({
    name,
    kind: 'lasting',
    async cause() {
      const client = new Redis(system.servers.redisUrl);
      try {
        await client.call(...(begin as [string, ...string[]]));
        if (end.length === 0) return;
        await pause(lastsMs);
        await client.call(...(end as [string, ...string[]]));
      } finally {
        client.disconnect();
      }
    },
  });
  return [
    { ...configured('redis wiped', ['FLUSHALL'], []), kind: 'instant' },
    configured('redis out of memory', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']),
    // A replica of nobody refuses writes.
    configured('redis read-only', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']),
    { name: 'redis unable to save', kind: 'lasting', cause: () => unableToSave(system.servers.redisUrl, lastsMs) },
  ];
}

function postgresFaults(world: World): Fault[] {
  const { servers } = world.system;
  const asAdmin = async (work: (client: pg.Client) => Promise<void>): Promise<void> => {
    const client = new pg.Client({ connectionString: servers.postgresUrl });
    client.on('error', () => undefined);
    await client.connect();
    await work(client).finally(() => client.end());
  };
  return [
    {
      name: 'postgres read-only',
      kind: 'lasting',
      cause: () =>
        asAdmin(async (client) => {
          const set = async (value: string): Promise<void> => {
            await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
            await client.query('SELECT pg_reload_conf()');
          };
          await set('on');
          await pause(lastsMs);
          await client.query('SET default_transaction_read_only = off');
          await set('off');
        }),
    },
    {
      name: 'postgres out of connections',
      kind: 'lasting',
      cause: () => asAdmin((client) => useUp(client, servers.postgresUrl)),
    },
    {
      name: 'connections of postgres broken',
      kind: 'lasting',
      cause: () => asAdmin((client) => endConnections(client, lastsMs)),
    },
    {
      name: 'messages locked',
      kind: 'lasting',
      cause: () =>
        asAdmin(async (client) => {
          await client.query('BEGIN');
          await client.query('LOCK TABLE messaging.message IN ACCESS EXCLUSIVE MODE');
          await pause(lastsMs);
          await client.query('COMMIT');
        }),
    },
    {
      name: 'disk of postgres full',
      kind: 'lasting',
      ...(world.volume ? {} : { skipped: 'only root can mount a small volume' }),
      async cause() {
        const file = join(world.volume ?? '', 'filler');
        const { bavail, bsize } = await statfs(world.volume ?? '');
        writeFileSync(file, '');
        const piece = Buffer.alloc(8 * 1024 * 1024);
        try {
          for (let left = bavail * bsize; left > 0; left -= piece.length) writeFileSync(file, piece, { flag: 'a' });
        } catch {
          // Full.
        }
        await pause(lastsMs);
        await rm(file);
        // PostgreSQL exits if it can't write its WAL.
        await pause(500);
        await servers.postgres.start();
      },
    },
  ];
}

/** Takes every connection that services have or give back. */
async function useUp(admin: pg.Client, url: string): Promise<void> {
  const taken: pg.Client[] = [];
  let isOver = false;
  const take = async (): Promise<void> => {
    while (!isOver) {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect().then(
        () => void taken.push(client),
        () => pause(50),
      );
    }
  };
  const ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'natter_%'";
  const takers = Array.from({ length: 8 }, take);
  await pause(1_500);
  await admin.query(ending);
  await pause(lastsMs);
  isOver = true;
  await Promise.all(takers);
  await Promise.all(taken.map((client) => client.end().catch(() => undefined)));
}

/** Two at once, of those that are not about the same part. */
function pairs(single: Fault[], random: () => number): Fault[] {
  return Array.from({ length: 6 }, () => {
    const pick = (): Fault => single[Math.floor(random() * single.length)] as Fault;
    let [a, b] = [pick(), pick()];
    while (a.skipped || b.skipped || wordsOf(a).some((word) => wordsOf(b).includes(word))) [a, b] = [pick(), pick()];
    return {
      name: `${a.name} + ${b.name}`,
      kind: 'lasting' as const,
      cause: async () => void (await Promise.all([a.cause(), b.cause()])),
    };
  });
}

const wordsOf = ({ name }: Fault): string[] =>
  name
    .split(/\W+/)
    .filter((word) =>
      /^(redis|nats|postgres|gateway|users|channels|messages|messaging|presence|scheduler|event|disk)$/.test(word),
    );
