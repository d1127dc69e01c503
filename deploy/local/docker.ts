/** A server in a container, used if a Docker daemon runs and no other source exists. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ServerContext } from './server-context.ts';
import type { ServerProcess } from './server-process.ts';

const run = promisify(execFile);

export interface ContainerRecipe {
  name: string;
  image: string;
  url: string;
  home: string;
  port: number;
  innerPort: number;
  flags?: string[];
  /** Environment of the container. Command lines of `docker` have only the names: other users can read them. */
  variables?: Record<string, string>;
  command: string[];
  /** Data is stored in a volume that outlives the container. */
  keepsData?: boolean;
  answers(): Promise<boolean>;
}

export async function startDocker(context: ServerContext, recipe: ContainerRecipe): Promise<ServerProcess | undefined> {
  if (
    !(await run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 10_000 }).then(
      () => true,
      () => false,
    ))
  )
    return undefined;

  const container = `natter-${recipe.name}-${createHash('sha256').update(recipe.home).digest('hex').slice(0, 12)}`;
  const volume = `${container}-data`;
  // A container's port is fixed when it is created, so each start creates it again; the data is in the volume.
  await run('docker', ['rm', '-f', container]).catch(() => {});
  if (context.fresh) await run('docker', ['volume', 'rm', '-f', volume]).catch(() => {});
  const data = recipe.keepsData
    ? ['-v', `${volume}:/var/lib/postgresql`, '-e', 'PGDATA=/var/lib/postgresql/natter']
    : [];
  context.log(`${recipe.name}: ${recipe.image} in Docker on 127.0.0.1:${recipe.port}`);
  const variables = Object.keys(recipe.variables ?? {}).flatMap((name) => ['-e', name]);
  const publish = ['-p', `127.0.0.1:${recipe.port}:${recipe.innerPort}`];
  const flags = [...publish, ...data, ...variables, ...(recipe.flags ?? [])];
  await run('docker', ['create', '--name', container, ...flags, recipe.image, ...recipe.command], {
    env: { ...process.env, ...recipe.variables },
  });

  const server: ServerProcess = {
    url: recipe.url,
    external: false,
    pid: undefined,
    kill: async (signal) => {
      if (signal === 'SIGSTOP') await run('docker', ['pause', container]);
      else if (signal === 'SIGCONT') await run('docker', ['unpause', container]);
      else await run('docker', ['kill', '-s', signal, container]).then(() => run('docker', ['wait', container]));
    },
    start: async () => {
      await run('docker', ['start', container]);
      const deadline = performance.now() + 60_000;
      while (!(await recipe.answers().catch(() => false))) {
        if (performance.now() > deadline) throw new Error(`${container} does not answer`);
        await sleep(50);
      }
    },
    stop: async () => {
      await run('docker', ['unpause', container]).catch(() => {});
      await run('docker', ['stop', container]).catch(() => {});
      await run('docker', ['rm', '-f', container]).catch(() => {});
    },
  };
  await server.start();
  return server;
}
