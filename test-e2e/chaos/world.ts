import { execFileSync } from 'node:child_process';
import { rmdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServiceProgram } from '@natter/contracts';
import { type ServerName, type System, startSystem } from '@natter/local/system';
import { type Link, proxyTo } from './proxy.ts';

/** The system under test: two processes of everything, a proxy between each of them and each server. */
export interface World {
  system: System;
  /** The proxies between each process and each server. The gateway has no connection to PostgreSQL. */
  proxies: { program: ServiceProgram; index: number; server: ServerName; proxy: Link }[];
  /** The path of PostgreSQL's data; undefined if no separate volume can be created. */
  volume: string | undefined;
  /** Returns errors that processes logged, and the reasons why processes died, since the last call. */
  takeErrors(): string[];
  /** Moves the wall clocks of these processes; of all others they are right. */
  moveClocks(byPid: Record<number, number>): Promise<void>;
  stop(): Promise<void>;
}

const volumeMegabytes = 3_000;

export async function startWorld(signal: AbortSignal): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-chaos-'));
  const volume = await makeVolume();
  if (volume) {
    const servers = join(dataDir, 'servers');
    await mkdir(servers, { recursive: true });
    // The place is kept in this file: see `postgres-place.ts`.
    await writeFile(join(servers, 'postgres-lies-in'), join(volume, 'postgres'));
  }
  const clocks = join(dataDir, 'clocks.json');
  await writeFile(clocks, '{}');
  const proxies: World['proxies'] = [];
  const errors: string[] = [];
  const system = await startSystem({
    dataDir,
    signal,
    replicas: 2,
    env: {
      ...process.env,
      NATTER_RATE_LIMIT: '1000000',
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, '..', 'moved-clock.mjs'))}`,
      NATTER_TEST_CLOCK: clocks,
    },
    between: async ({ program, index, server, url }) => {
      const proxy = await proxyTo(url);
      proxies.push({ program, index, server, proxy });
      return proxy.url;
    },
    log: console.error,
    onLine: (line) => {
      if (/"level":(?:50|60)/.test(line)) errors.push(line);
    },
  });
  return {
    system,
    proxies,
    volume,
    takeErrors: () => errors.splice(0),
    async moveClocks(byPid) {
      await writeFile(`${clocks}.new`, JSON.stringify(byPid));
      await rename(`${clocks}.new`, clocks);
    },
    async stop() {
      await system.stop();
      for (const { proxy } of proxies) proxy.close();
    },
  };
}

/** A volume in memory, where root may mount one. */
async function makeVolume(): Promise<string | undefined> {
  const volume = await mkdtemp(join(tmpdir(), 'natter-volume-'));
  try {
    await chmod(volume, 0o755);
    const options = ['-t', 'tmpfs', '-o', `size=${volumeMegabytes}m,mode=755`, 'natter', volume];
    execFileSync('mount', options, { stdio: 'ignore' });
    process.once('exit', () => {
      execFileSync('umount', ['-l', volume]);
      rmdirSync(volume);
    });
    return volume;
  } catch {
    await rm(volume, { recursive: true, force: true });
    return undefined;
  }
}
