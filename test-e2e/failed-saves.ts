import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/**
 * Lets the snapshots of a local Redis fail, as on a full disk: it then refuses writes (`stop-writes-on-bgsave-error`).
 * Returns the end of the fault.
 */
export async function failSaves(redis: Redis): Promise<() => Promise<void>> {
  const setting = async (name: string): Promise<string> => ((await redis.config('GET', name)) as string[])[1] ?? '';
  // Redis cannot replace a directory by the file that it wrote.
  const place = join(await setting('dir'), await setting('dbfilename'));
  // The snapshot of an earlier call.
  await rm(place, { force: true });
  await mkdir(place);
  // Redis refuses writes after a failed save only if automatic saves are configured.
  await redis.config('SET', 'save', '86400 1000000');
  await save(redis, 'err');
  return async () => {
    await rmdir(place);
    await save(redis, 'ok');
    await redis.config('SET', 'save', '');
  };
}

async function save(redis: Redis, expected: 'ok' | 'err'): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; ) {
    await redis.bgsave().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const info = await redis.info('persistence');
    if (info.includes('rdb_bgsave_in_progress:0') && info.includes(`rdb_last_bgsave_status:${expected}`)) return;
  }
  throw new Error(`no snapshot ended with "${expected}"`);
}

export async function unableToSave(url: string, ms: number): Promise<void> {
  const redis = new Redis(url);
  try {
    const end = await failSaves(redis);
    await new Promise((resolve) => setTimeout(resolve, ms));
    await end();
  } finally {
    redis.disconnect();
  }
}
