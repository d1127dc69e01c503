import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundledProgram, compileCache } from '@natter/local/child';
import type { System } from '@natter/local/system';

const entry = bundledProgram() ?? join(import.meta.dirname, '..', 'deploy', 'admin', 'src', 'natter.ts');

export interface Ran {
  code: number;
  /** Both standard output and standard error. */
  output: string;
  /** Standard output alone. */
  printed: string;
}

/** The settings of the operator for a system in this data directory. */
export async function operatorSettings(system: System, dataDir: string): Promise<Record<string, string>> {
  const password = (await readFile(join(dataDir, 'service-password'), 'utf8')).trim();
  const schemas = ['USERS', 'CHANNELS', 'MESSAGING', 'PRESENCE', 'EVENT_QUEUE'];
  return {
    NATTER_NATS_URL: system.natsUrl,
    NATTER_REDIS_URL: system.redisUrl,
    NATTER_POSTGRES_ADMIN_URL: system.servers.postgresUrl,
    ...Object.fromEntries(schemas.map((schema) => [`NATTER_POSTGRES_PASSWORD_${schema}`, password])),
  };
}

/** Several at a time, because a process spends much of its time on its start. */
export async function byFours<T>(list: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < list.length; from += 4) await Promise.all(list.slice(from, from + 4).map(work));
}

/** Runs `natter`; `onOutput` receives everything that it printed so far, and `killed` kills it. */
export function runNatter(
  settings: Record<string, string>,
  args: readonly string[],
  onOutput: (output: string, child: ChildProcess) => void = () => undefined,
  killed?: AbortSignal,
): Promise<Ran> {
  const env = { NODE_COMPILE_CACHE: compileCache, ...process.env, ...settings };
  const child = spawn(process.execPath, [entry, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  killed?.addEventListener('abort', () => void child.kill('SIGKILL'));
  let output = '';
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
      onOutput(output, child);
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? -1, output, printed })));
}
