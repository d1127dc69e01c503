/**
 * The whole system on this machine: servers, migrations, two gateways behind one address, every service, the default
 * realm with its people. Used by `npm start` and by tests.
 */
import { join } from 'node:path';
import { realmUrlSchema } from '@natter/contracts';
import { migrate, type serviceSchemas, serviceUrl } from '@natter/database';
import { derivedPassword, type NatsUser, natsAuthorization, redisUserName, redisUsers } from '@natter/service-kit';
import { type Child, type LocalMail, type ServiceProgram, startChild } from './child.ts';
import { freePort } from './port.ts';
import { privateDirectory } from './private-directory.ts';
import { keptSecret } from './secret.ts';
import { type People, seed } from './seed.ts';
import { bringServers, type Servers } from './servers.ts';

export interface System {
  url: string;
  people: People;
  /** NATS with the operator's credentials. */
  natsUrl: string;
  /** Redis with the operator's credentials. */
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
  /** Processes of each service; one unless said otherwise. */
  replicas?: number | Partial<Record<ServiceProgram, number>>;
  /** Two unless said otherwise. */
  gateways?: number;
  env?: NodeJS.ProcessEnv;
  log: (line: string) => void;
  /** Every log line of every process. */
  onLine?: (line: string) => void;
  /** Mails, where no mail server is configured. They hold secrets: for the terminal, never for a file. */
  onMail?: (mail: LocalMail) => void;
  /** Ends a start that is under way; what it brought is stopped. */
  signal?: AbortSignal;
}

const programs: { program: ServiceProgram; schema: (typeof serviceSchemas)[number] }[] = [
  { program: 'users', schema: 'users' },
  { program: 'channels', schema: 'channels' },
  { program: 'messaging', schema: 'messaging' },
  { program: 'scheduler', schema: 'messaging' },
  { program: 'presence', schema: 'presence' },
  { program: 'event-queue', schema: 'event_queue' },
];

export async function startSystem(options: SystemOptions): Promise<System> {
  const { dataDir, log, replicas = 1, gateways = 2 } = options;
  await privateDirectory(dataDir);
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
    await Promise.all(children.map((child) => child.stop()));
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
    // Servers that were given have users of their own.
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
    const port = options.port ?? (await freePort());
    const env = {
      ...process.env,
      ...options.env,
      NATTER_BOT_KEY_SECRET: derivedPassword(password, 'keys of bots'),
    };
    log('starting services');
    for (const { program } of programs)
      for (let index = 0; index < (typeof replicas === 'number' ? replicas : (replicas[program] ?? 1)); index++)
        children.push(
          startChild({
            program,
            index,
            onLine: options.onLine,
            onMail: options.onMail,
            env: {
              ...env,
              NATTER_NATS_URL: natsUrlOf(program),
              NATTER_REDIS_URL: redisUrlOf(program),
              NATTER_POSTGRES_URL: postgresUrlOf(program),
            },
          }),
        );
    for (let index = 0; index < gateways; index++)
      children.push(
        startChild({
          program: 'gateway',
          index,
          onLine: options.onLine,
          onMail: options.onMail,
          env: {
            ...env,
            NATTER_NATS_URL: natsUrlOf('gateway'),
            NATTER_REDIS_URL: redisUrlOf('gateway'),
            NATTER_HTTP_PORT: String(port),
            NATTER_REUSE_PORT: 'true',
          },
        }),
      );
    await Promise.all(children.map((child) => child.ready()));
    const url = `http://127.0.0.1:${port}`;
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
