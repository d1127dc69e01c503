/**
 * Redis: volatile by default, and without eviction, because a lost entry would be a lost event. The caller provides its
 * users.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findRedis, missing } from './binaries.ts';
import { startDocker } from './docker.ts';
import { answersWith, keptPort } from './port.ts';
import { keptSecret } from './secret.ts';
import type { ServerContext } from './server-context.ts';
import { externalServer, type ServerProcess, startOnPort, sweepLeftover } from './server-process.ts';

export async function bringRedis(
  context: ServerContext,
  { durable, users }: { durable: boolean; users: string },
): Promise<ServerProcess> {
  const given = context.env.NATTER_REDIS_URL;
  if (given) return externalServer(given, 'NATTER_REDIS_URL');

  const home = join(context.dataDir, 'redis');
  await sweepLeftover(home, 'SIGTERM');
  if (context.fresh) await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true, mode: 0o700 });

  const binary = await findRedis(context);
  const password = await keptSecret(join(home, 'password'));
  const urlAt = (port: number): string => `redis://:${password}@127.0.0.1:${port}`;
  const persistence = ['--save', '', '--appendonly', durable ? 'yes' : 'no'];
  const rules = [...persistence, '--maxmemory-policy', 'noeviction'];
  const config = join(home, 'redis.conf');
  await writeFile(config, `requirepass ${password}\n${users}\n`, { mode: 0o600 });
  const answersAt = (port: number): Promise<boolean> => answersWith(port, `AUTH ${password}\r\nPING\r\n`, '+PONG');

  if (binary === undefined) {
    const port = await keptPort(home);
    const container = await startDocker(context, {
      name: 'redis',
      image: context.env.NATTER_REDIS_IMAGE ?? 'redis:7',
      url: urlAt(port),
      home,
      port,
      innerPort: 6379,
      flags: ['--user', '0', '-v', `${config}:/natter.conf:ro`],
      command: ['redis-server', '/natter.conf', ...rules],
      answers: () => answersAt(port),
    });
    if (container) return container;
    throw missing('Redis', 'NATTER_REDIS_URL', 'redis-server');
  }
  return startOnPort(home, async (port) => {
    context.log(`redis: ${binary.command} on 127.0.0.1:${port}`);
    return {
      name: 'redis',
      url: urlAt(port),
      home,
      command: binary.command,
      // Without the first two, Redis hides the directory by which a left-over process is recognized.
      args: [
        config,
        ...['--set-proc-title', 'no', '--dir', home],
        ...['--bind', '127.0.0.1', '--port', String(port), '--daemonize', 'no', ...rules],
      ],
      env: { ...context.env, ...binary.env },
      runAs: {},
      stopSignal: 'SIGTERM',
      answers: () => answersAt(port),
      log: context.log,
    };
  });
}
