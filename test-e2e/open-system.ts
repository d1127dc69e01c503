import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, type SystemOptions, startSystem } from '@natter/local/system';

/** A new data directory of a system. */
export const dataDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'natter-test-'));

/** Starts a system for one file of tests. Users meet no rate limit, unless `env` sets one. */
export async function openSystem({ env, ...options }: Partial<SystemOptions> = {}): Promise<System> {
  return startSystem({
    dataDir: options.dataDir ?? (await dataDirectory()),
    log: () => undefined,
    ...options,
    env: { ...process.env, NATTER_RATE_LIMIT: '1000000', ...env },
  });
}
