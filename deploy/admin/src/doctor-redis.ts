import { metaKey } from '@natter/event-log';
import { Redis } from 'ioredis';
import { requireEnv } from './command.ts';
import type { Clock } from './doctor-postgres.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Redis answers, evicts nothing, and holds the end of each realm's log, or nothing of a realm that is idle. */
export async function checkRedis(clocks: readonly Clock[]): Promise<Finding[]> {
  const redis = new Redis(requireEnv('NATTER_REDIS_URL', 'Redis, with credentials'), {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
    connectTimeout: 5_000,
    commandTimeout: 5_000,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const info = await redis.info();
    const field = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    const used = `${field('redis_version')}, ${field('used_memory_human')} used`;
    const policy = field('maxmemory_policy');
    const findings = [
      policy === 'noeviction' || policy === ''
        ? ok('Redis', used)
        : warn('Redis', `${used}; maxmemory-policy is ${policy}: streams that are evicted are rebuilt again and again`),
    ];
    return [...findings, await streams(redis, clocks)];
  } finally {
    redis.disconnect();
  }
}

async function streams(redis: Redis, clocks: readonly Clock[]): Promise<Finding> {
  let behind = 0;
  const other: number[] = [];
  for (const { realmId, number, mark } of clocks) {
    const [streamNumber, streamMark] = await redis.hmget(metaKey(realmId), 'number', 'mark');
    if (streamNumber === null || streamNumber === undefined) continue;
    behind += Math.max(0, number - Number(streamNumber));
    if (Number(streamNumber) === number && Number(streamMark) !== mark) other.push(realmId);
  }
  if (other.length > 0) return fail('log in Redis', `another history than the record in realms ${other.join(', ')}`);
  if (behind > 100) return fail('log in Redis', `${behind} events behind the record: is event-queue running?`);
  return ok('log in Redis', `${behind} events behind the record`);
}
