import { metaKey } from '@natter/event-log';
import { Redis } from 'ioredis';
import { requireEnv } from './command.ts';
import type { Clock } from './doctor-postgres.ts';
import { type Finding, fail, ok, runbook, section, warn } from './finding.ts';

/**
 * Checks that Redis answers, is written to, evicts nothing, and holds the end of each realm's log, or nothing of an idle realm.
 */
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
    return [...findings, await writes(redis, field), ...space(field), await streams(redis, clocks)];
  } finally {
    redis.disconnect();
  }
}

/** A replica loses what it lets anybody write. A command that changes nothing is refused as other writes are. */
async function writes(redis: Redis, field: (name: string) => string): Promise<Finding> {
  const subject = 'writes to Redis';
  const page = runbook('NatterRedisAway');
  if (field('role') === 'slave')
    return fail(subject, `it is a replica of ${field('master_host')}:${field('master_port')}`, page);
  try {
    await redis.unlink('natter:doctor');
    return ok(subject, 'accepted');
  } catch (error) {
    return fail(subject, `refused: ${(error as Error).message}`, page);
  }
}

const fullShare = 0.95;
const nearlyFullShare = 0.8;

/** Memory against the limit, above which Redis refuses writes, and whether snapshots and the append-only file can be written. */
function space(field: (name: string) => string): Finding[] {
  const page = section('disks-that-are-full');
  const findings: Finding[] = [];
  const [used, most] = [Number(field('used_memory')), Number(field('maxmemory'))];
  if (most > 0) {
    const text = `${Math.round((100 * used) / most)} % of maxmemory used`;
    const state = used > fullShare * most ? fail : used > nearlyFullShare * most ? warn : ok;
    findings.push(state('memory of Redis', text, page));
  }
  const failed = [
    ...(field('rdb_last_bgsave_status') === 'err' ? ['its last snapshot'] : []),
    ...(field('aof_last_write_status') === 'err' ? ['its append-only file'] : []),
  ];
  if (failed.length > 0) findings.push(fail('space of Redis', `it could not write ${failed.join(' and ')}`, page));
  else if (field('rdb_last_bgsave_status') === 'ok') findings.push(ok('space of Redis', 'it can write its files'));
  return findings;
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
