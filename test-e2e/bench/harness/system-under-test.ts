import { createHash } from 'node:crypto';
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type System, startSystem } from '@natter/local/system';
import type { ProcessGroups } from '../../measure/processes.ts';
import type { Address } from '../load/connection.ts';

/** Differences from `npm start`; empty for nearly every scenario. */
export interface Variant {
  /** Processes of each service. */
  replicas?: number;
  gateways?: number;
  /** `default`: the rate limits of `npm start`; otherwise they are raised. */
  limits?: 'default';
  /** Folder to which each service writes its CPU profile when it stops. */
  profileTo?: string;
}

/** The running system. It is started like `npm start`; `deviations` lists the differences. */
export interface SystemUnderTest {
  readonly system: System;
  readonly address: Address;
  readonly groups: ProcessGroups;
  readonly deviations: string[];
  /** Starts the system, or restarts it if it runs in another variant. */
  use(variant: Variant): Promise<void>;
  /** Fresh processes of one kind, as after a deployment. */
  restart(program: string): Promise<void>;
  stop(): Promise<void>;
}

const raised = {
  NATTER_RATE_LIMIT: '1000000000',
  NATTER_RATE_LIMIT_ANONYMOUS: '1000000000',
  NATTER_MAX_CONNECTIONS_PER_ADDRESS: '100000',
};

export function createSystemUnderTest(
  directory: string,
  isFresh: boolean,
  log: (line: string) => void,
): SystemUnderTest {
  const dataDir = join(directory, 'data');
  let current: { system: System; variant: Variant } | undefined;
  let mustBeFresh = isFresh;

  const running = (): System => {
    if (!current) throw new Error('the system is not running');
    return current.system;
  };
  const groups: ProcessGroups = {};
  for (const program of ['gateway', 'users', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue'])
    groups[program] = () =>
      (current?.system.children ?? [])
        .filter((child) => child.program === program)
        .flatMap((child) => child.pid() ?? []);
  for (const server of ['postgres', 'redis', 'nats'] as const)
    groups[server] = () => {
      const pid = current?.system.servers[server].pid;
      return pid === undefined ? [] : [pid];
    };

  const stop = async (): Promise<void> => {
    const { system } = current ?? {};
    current = undefined;
    await system?.stop();
  };

  return {
    get system() {
      return running();
    },
    get address() {
      return { host: '127.0.0.1', port: Number(new URL(running().url).port) };
    },
    groups,
    get deviations() {
      const { replicas, gateways, profileTo, limits } = current?.variant ?? {};
      return [
        ...(limits === 'default'
          ? []
          : ['rate limits are raised to a thousand million a minute; every request is still counted']),
        'one address may open 100,000 connections, since all load comes from one',
        'the log of the services goes to a file instead of the terminal',
        ...(replicas === undefined ? [] : [`${replicas} processes of each service instead of one`]),
        ...(gateways === undefined ? [] : [`${gateways} gateways instead of two`]),
        ...(profileTo === undefined
          ? []
          : ['the services run with --cpu-prof and Postgres logs every statement, both of which cost a good part']),
      ];
    },
    async use(variant) {
      if (current && isDeepStrictEqual(current.variant, variant)) return;
      await stop();
      await mkdir(dataDir, { recursive: true });
      const fresh = mustBeFresh || !(await isOfThisSchema(dataDir));
      mustBeFresh = false;
      if (fresh) {
        log('data: beginning anew');
        await rm(join(dataDir, 'realms'), { recursive: true, force: true });
        await rm(join(dataDir, 'local.json'), { force: true });
      }
      const lines = createWriteStream(join(directory, 'system.log'), { flags: 'a' });
      const { profileTo, limits, ...rest } = variant;
      const system = await startSystem({
        dataDir,
        fresh,
        ...rest,
        env: {
          ...process.env,
          ...(limits === 'default' ? {} : raised),
          ...(profileTo === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profileTo}` }),
        },
        log: (line) => log(`system: ${line}`),
        onLine: (line) => lines.write(`${line}\n`),
      });
      current = { system, variant };
      await writeFile(join(dataDir, 'schema'), schemaHash());
    },
    async restart(program) {
      const children = running().children.filter((child) => child.program === program);
      const before = children.map((child) => child.pid());
      for (const child of children) child.kill('SIGTERM');
      for (const end = Date.now() + 30_000; ; await sleep(50)) {
        if (children.every((child, index) => child.pid() !== before[index])) break;
        if (Date.now() > end) throw new Error(`${program} did not come back`);
      }
      await Promise.all(children.map((child) => child.ready()));
    },
    stop,
  };
}

/** Data is kept between runs as long as the tables are the same. */
async function isOfThisSchema(dataDir: string): Promise<boolean> {
  return (await readFile(join(dataDir, 'schema'), 'utf8').catch(() => '')) === schemaHash();
}

function schemaHash(): string {
  const migrations = join(import.meta.dirname, '../../../libs/database/migrations');
  const seeding = join(import.meta.dirname, '../data');
  const hash = createHash('sha256');
  for (const folder of [migrations, seeding])
    for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest('hex');
}
