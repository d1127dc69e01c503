import type { LogEntry } from '@natter/contracts';
import { streamKey } from './keys.ts';
import type { LogRedis } from './redis.ts';

/** Entries after a position, oldest first. Reads only what stands in Redis: the caller checks marks for completeness. `bytes` is their size as JSON. */
export async function readStream(
  log: LogRedis,
  realmId: number,
  after: { number: number; n: number },
  count: number,
): Promise<{ entries: LogEntry[]; bytes: number }> {
  const rows = await log.redis.xrange(streamKey(realmId), `(${after.number}-${after.n}`, '+', 'COUNT', count);
  let bytes = 0;
  const entries = rows.map(([id, fields]): LogEntry => {
    bytes += fields[3]?.length ?? 0;
    const [number = '0', n = '0'] = id.split('-');
    const data = JSON.parse(fields[3] ?? '{}') as Pick<LogEntry, 'previousMark' | 'at' | 'event'>;
    return { number: Number(number), n: Number(n), mark: Number(fields[1]), ...data };
  });
  return { entries, bytes };
}

/** The stored form of an entry; number and mark stand beside it. */
export const entryData = (entry: Pick<LogEntry, 'previousMark' | 'at' | 'event'>): string =>
  JSON.stringify({ previousMark: entry.previousMark, at: entry.at, event: entry.event });
