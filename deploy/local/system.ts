/**
 * The whole system on this machine: servers, migrations, two gateways behind one address, every service, the default
 * realm with its users. Used by `npm start` and by tests.
 */
import { join } from 'node:path';
import { realmUrlSchema, type ServiceProgram } from '@natter/contracts';
import { migrate, type serviceSchemas, serviceUrl } from '@natter/database';
import { derivedPassword, type NatsUser, natsAuthorization, redisUserName, redisUsers } from '@natter/service-kit';
import { type Child, inheritedFds, type LocalMail, startChild } from './child.ts';
import { freePort } from './port.ts';
import { privateDirectory } from './private-directory.ts';
import { keptSecret } from './secret.ts';
import { type People, seed } from './seed.ts';
import { bringServers, type Servers } from './servers.ts';
import { openSharedPort, type SharedPort } from './shared-port.ts';

export interface System {
  url: string;
  people: People;
  /** The URL of NATS with the operator's credentials. */
  natsUrl: string;
  /** The URL of Redis with the operator's credentials. */
  redisUrl: string;
  /** Credentials of a service. */
  urlsOf(user: NatsUser): { nats: string; redis: string; postgres: string | undefined };
  servers: Servers;
  children: Child[];
  stop(): Promise<void>;
}

export interface SystemOptions {
  dataDir: string;
  fresh?: boolean;
  port?: number;
  /** Number of processes of each service; 1 by default. */
  replicas?: number | Partial<Record<ServiceProgram, number>>;
  /** Number of gateways; 2 by default. */
  gateways?: number;
  env?: NodeJS.ProcessEnv;
  log: (line: string) => void;
  /** Every log line of every process. */
  onLine?: (line: string) => void;
  /**
   * Mails, if no mail server is configured. They contain secrets: show them in the terminal, never write them to a
   * file.
   */
  onMail?: (mail: LocalMail) => void;
  /** Whether a process that stays stopped is replaced (on Linux); one that exits always is. */
  replacesStopped?: boolean;
  /** Puts a proxy between a process and a server. Returns the URL that the process connects to. */
  between?: (link: { program: ServiceProgram; index: number; server: ServerName; url: string }) => Promise<string>;
  /** Aborts a start in progress, and stops what it started. */
  signal?: AbortSignal;
}

export type ServerName = 'nats' | 'redis' | 'postgres';

const programs: { program: ServiceProgram; schema: (typeof serviceSchemas)[number] }[] = [
  { program: 'users', schema: 'users' },
  { program: 'channels', schema: 'channels' },
  { program: 'messaging', schema: 'messaging' },
  { program: 'scheduler', schema: 'messaging' },
  { program: 'presence', schema: 'presence' },
  { program: 'event-queue', schema: 'event_queue' },
];

export async function startSystem(options: SystemOptions): Promise<System> {
  const { dataDir } = options;
  await privateDirectory(dataDir);
  const host = options.env?.NATTER_HTTP_HOST || '127.0.0.1';
  // Before anything starts: a second system on the same port must not touch the servers of the first one.
  const shared = await openSharedPort(host, options.port ?? (await freePort()));
  try {
    return await startBehind(shared, options);
  } catch (error) {
    shared.close();
    throw error;
  }
}

async function startBehind(shared: SharedPort, options: SystemOptions): Promise<System> {
  const { dataDir, log, replicas = 1, gateways = 2 } = options;
  log('bringing PostgreSQL, Redis and NATS');
  const password = await keptSecret(join(dataDir, 'service-password'));
  const natsPassword = (user: NatsUser): string => derivedPassword(password, `nats ${user}`);
  const redisPassword = (user: NatsUser): string => derivedPassword(password, `redis ${user}`);
  const servers = await bringServers({
    dataDir: join(dataDir, 'servers'),
    fresh: options.fresh ?? false,
    natsConfig: natsAuthorization(natsPassword),
    redisUsers: redisUsers(redisPassword),
    log,
    ...(options.env ? { env: options.env } : {}),
  });
  const children: Child[] = [];
  const stop = async (): Promise<void> => {
    const ended = Promise.all(children.map((child) => child.stop()));
    shared.close();
    await ended;
    await servers.stop();
  };
  const aborted = new Promise<never>((_, reject) => {
    options.signal?.addEventListener('abort', () => reject(options.signal?.reason));
  });
  aborted.catch(() => undefined);
  try {
    return await Promise.race([aborted, start()]);
  } catch (error) {
    await stop();
    throw error;
  }

  async function start(): Promise<System> {
    // External servers have their own users.
    const natsUrlOf = (user: NatsUser): string =>
      options.env?.NATTER_NATS_URL ?? withUser(servers.natsUrl, user, natsPassword(user));
    const redisUrlOf = (user: NatsUser): string =>
      options.env?.NATTER_REDIS_URL ?? withUser(servers.redisUrl, redisUserName(user), redisPassword(user));
    const postgresUrlOf = (user: NatsUser): string | undefined => {
      const schema = programs.find(({ program }) => program === user)?.schema;
      return schema && serviceUrl(servers.postgresUrl, schema, password);
    };
    options.signal?.throwIfAborted();
    await migrate(servers.postgresUrl, password, log);
    options.signal?.throwIfAborted();
    const { fd, url } = shared;
    const http = { NATTER_HTTP_PORT: String(shared.port), NATTER_HTTP_FD: inheritedFds.join(',') };
    const env = {
      ...process.env,
      ...options.env,
      NATTER_BOT_KEY_SECRET: derivedPassword(password, 'keys of bots'),
    };
    log('starting services');
    const between = options.between ?? (async ({ url }) => url);
    const startProcess = async (program: ServiceProgram, index: number): Promise<void> => {
      const to = (server: ServerName, url: string) => between({ program, index, server, url });
      const postgresUrl = postgresUrlOf(program);
      const urls = {
        NATTER_NATS_URL: await to('nats', natsUrlOf(program)),
        NATTER_REDIS_URL: await to('redis', redisUrlOf(program)),
        ...(postgresUrl ? { NATTER_POSTGRES_URL: await to('postgres', postgresUrl) } : {}),
      };
      const { onLine, onMail, replacesStopped = false } = options;
      const own =
        program === 'gateway' ? { fd, env: { ...env, ...urls, ...http } } : { fd: undefined, env: { ...env, ...urls } };
      options.signal?.throwIfAborted();
      children.push(startChild({ program, index, onLine, onMail, replacesStopped, ...own }));
    };
    for (const { program } of programs)
      for (let index = 0; index < (typeof replicas === 'number' ? replicas : (replicas[program] ?? 1)); index++)
        await startProcess(program, index);
    for (let index = 0; index < gateways; index++) await startProcess('gateway', index);
    await Promise.all(children.map((child) => child.ready()));
    const people = await seed({
      url,
      natsUrl: natsUrlOf('operator'),
      file: join(dataDir, 'local.json'),
      realmUrl: realmUrlSchema.parse(options.env?.NATTER_EXTERNAL_URL ?? url),
      log,
    });
    return {
      url,
      people,
      natsUrl: natsUrlOf('operator'),
      redisUrl: redisUrlOf('operator'),
      urlsOf: (user) => ({ nats: natsUrlOf(user), redis: redisUrlOf(user), postgres: postgresUrlOf(user) }),
      servers,
      children,
      stop,
    };
  }
}

function withUser(url: string, user: string, password: string): string {
  const parsed = new URL(url);
  parsed.username = user;
  parsed.password = password;
  return parsed.href;
}
