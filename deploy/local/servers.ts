/**
 * PostgreSQL, Redis and NATS for development and tests, without prerequisites. Each server comes from the first of
 * these that exists: its URL in the environment, a binary on the machine, a package (npm for PostgreSQL, the
 * distribution's for Redis and NATS), Docker. Servers started here listen on 127.0.0.1 only, keep their ports in
 * `dataDir` and die with this process; after a crash of this process the next call with the same `dataDir` stops
 * left-over servers. Calls with different `dataDir`s don't interfere.
 */
import { access, chmod, constants, mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bringNats } from './nats.ts';
import { bringPostgres } from './postgres.ts';
import { bringRedis } from './redis.ts';
import type { ServerContext } from './server-context.ts';
import type { ServerProcess } from './server-process.ts';

export type { ServerProcess } from './server-process.ts';

export interface Servers {
  postgresUrl: string;
  redisUrl: string;
  natsUrl: string;
  postgres: ServerProcess;
  redis: ServerProcess;
  nats: ServerProcess;
  stop(): Promise<void>;
}

export interface ServersOptions {
  dataDir: string;
  /** Deletes all data and ports of an earlier start. */
  fresh?: boolean;
  /** Appended to the NATS configuration, for users and permissions. */
  natsConfig?: string;
  /** `user` lines of the Redis configuration; the default user keeps all rights. */
  redisUsers?: string;
  log?: (line: string) => void;
  /** Redis keeps its data over a restart (append-only file). */
  durableRedis?: boolean;
  env?: NodeJS.ProcessEnv;
}

export async function bringServers(options: ServersOptions): Promise<Servers> {
  const context: ServerContext = {
    dataDir: resolve(options.dataDir),
    fresh: options.fresh ?? false,
    log: options.log ?? (() => {}),
    env: options.env ?? process.env,
  };
  await mkdir(context.dataDir, { recursive: true });
  await chmodForOtherUsers(context.dataDir);

  const started = await Promise.allSettled([
    bringPostgres(context),
    bringRedis(context, { durable: options.durableRedis ?? false, users: options.redisUsers ?? '' }),
    bringNats(context, { extraConfig: options.natsConfig ?? '' }),
  ]);
  const [postgres, redis, nats] = started;
  if (postgres.status === 'rejected' || redis.status === 'rejected' || nats.status === 'rejected') {
    await Promise.all(started.map((one) => (one.status === 'fulfilled' ? one.value.stop() : undefined)));
    const reasons = started.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    throw reasons.length === 1 ? reasons[0] : new AggregateError(reasons, reasons.map(messageOf).join('\n'));
  }
  const all = [postgres.value, redis.value, nats.value];
  return {
    postgresUrl: postgres.value.url,
    redisUrl: redis.value.url,
    natsUrl: nats.value.url,
    postgres: postgres.value,
    redis: redis.value,
    nats: nats.value,
    stop: async () => {
      await Promise.all(all.map((server) => server.stop()));
    },
  };
}

/**
 * PostgreSQL may have to run as another user, who must be able to traverse the directory; the files inside have their
 * own modes.
 */
async function chmodForOtherUsers(dataDir: string): Promise<void> {
  const ours = await access(dataDir, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (ours) await chmod(dataDir, 0o711).catch(() => {});
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
