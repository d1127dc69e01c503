import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faults } from '@natter/local/child';
import { type System, startSystem } from '@natter/local/system';
import type { TestModule, TestProject } from 'vitest/node';
import { redisRefusals } from './redis-refusals.ts';

declare module 'vitest' {
  interface ProvidedContext {
    natterUrl: string;
    natterNatsUrl: string;
    natterPostgresUrl: string;
    natterRedisUrl: string;
    natterLog: string;
  }
}

/**
 * Vitest's global setup: one running system with two gateways, for all files that use separate realms. It stops when the
 * last of these files has ended, because its processes would take time from the files of other projects.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-shared-'));
  const log = join(dataDir, 'system.log');
  const { createWriteStream } = await import('node:fs');
  const lines = createWriteStream(log);
  const natsRefusals = new Set<string>();
  const system: System = await startSystem({
    dataDir,
    env: {
      ...process.env,
      NATTER_RATE_LIMIT: '1000000',
      NATTER_RATE_LIMIT_ANONYMOUS: '1000000',
      NATTER_UPLOAD_QUOTA_MIB: '40',
      NATTER_EVENT_CHECK_RATIO: '1',
    },
    log: () => undefined,
    // The product logs no mails: tests read them here.
    onMail: (mail) => lines.write(`${JSON.stringify(mail)}\n`),
    onLine: (line) => {
      lines.write(`${line}\n`);
      if (line.includes('"NATS refused a subject"'))
        natsRefusals.add(/Permissions Violation[^\\]*\\"[^\\]*/.exec(line)?.[0] ?? line);
    },
  });
  project.provide('natterUrl', system.url);
  project.provide('natterNatsUrl', system.natsUrl);
  project.provide('natterPostgresUrl', system.servers.postgresUrl);
  project.provide('natterRedisUrl', system.servers.redisUrl);
  project.provide('natterLog', log);
  const stop = async (): Promise<void> => {
    const refusals = await redisRefusals(system.servers.redisUrl);
    await system.stop();
    lines.end();
    if (process.env.NATTER_KEEP_LOG) console.log(`log of the system: ${log}`);
    else await rm(dataDir, { recursive: true, force: true });
    if (faults.length > 0) throw new Error(`Faults of the system's processes: ${faults.join('; ')}`);
    if (refusals.length > 0) throw new Error(`Redis refused commands that services need: ${refusals.join('; ')}`);
    if (natsRefusals.size > 0)
      throw new Error(`NATS refused subjects that services need: ${[...natsRefusals].join('; ')}`);
  };
  let stopping: Promise<void> | undefined;
  const stopOnce = (): Promise<void> => {
    stopping ??= stop();
    return stopping;
  };
  const cancel = await whenFilesEnded(project, () => {
    // The teardown reports its error.
    stopOnce().catch(() => undefined);
  });
  return () => {
    cancel();
    return stopOnce();
  };
}

/**
 * Calls back when all files of the project have ended. If only some of them run, or if they run again after changes, it never
 * calls back. Returns a function that cancels it.
 */
async function whenFilesEnded(project: TestProject, callback: () => void): Promise<() => void> {
  const { testFiles } = await project.globTestFiles();
  const timer = setInterval(() => {
    const modules = project.vitest.state.getTestModules().filter((module) => module.project.name === project.name);
    const ended = new Set(modules.filter((module) => isEnded(module.state())).map(({ moduleId }) => moduleId));
    if (project.vitest.config.watch || !testFiles.every((file) => ended.has(file))) return;
    clearInterval(timer);
    callback();
  }, 2_000);
  return () => clearInterval(timer);
}

const isEnded = (state: ReturnType<TestModule['state']>): boolean => state !== 'queued' && state !== 'pending';
