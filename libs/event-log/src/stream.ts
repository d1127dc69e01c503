import type { LogEntry } from '@natter/contracts';
import { streamKey } from './keys.ts';
import { promptly, promptMs } from './promptly.ts';
import type { LogRedis } from './redis.ts';
import type { Verifier } from './signing.ts';

export interface StreamRead {
  /**
   * Genuine entries, oldest first, up to the first durable entry without a valid signature; such ephemeral entries are
   * skipped.
   */
  entries: LogEntry[];
  /** Position after which the next read continues. */
  through: { number: number; n: number };
  /** The end of the stream was reached without finding a doubtful durable entry. */
  isAtEnd: boolean;
  /** A durable entry has no valid signature: read the record instead. */
  isDoubtful: boolean;
}

/**
 * Entries after a position. Reads only what Redis has: the caller checks marks for completeness, and reads the record if Redis
 * is slow. Ephemeral entries would be missing there, so this waits for longer than others.
 */
export async function readStream(
  log: LogRedis,
  verifier: Verifier,
  realmId: number,
  after: { number: number; n: number },
): Promise<StreamRead> {
  const asked = log.rangeScript(streamKey(realmId), `${after.number}-${after.n}`, limits);
  const { rows, isAtEnd } = await promptly(asked, 2 * promptMs);
  const entries: LogEntry[] = [];
  let through = after;
  for (const [id, fields] of rows) {
    const { entry, data } = entryOf(id, fields);
    if (verifier.isGenuine(realmId, entry, data, fields[5])) entries.push(entry);
    else if (entry.n === 0) return { entries, through, isAtEnd: false, isDoubtful: true };
    through = { number: entry.number, n: entry.n };
  }
  return { entries, through, isAtEnd, isDoubtful: false };
}

/** Limits of one read; one page of entries may exceed the size. */
const limits = { entries: 500, bytes: 4 * 1024 * 1024 };

/** Whether the stream contains the durable entry of this number and mark with a valid signature. */
export async function hasGenuine(
  log: LogRedis,
  verifier: Verifier,
  realmId: number,
  { number, mark }: { number: number; mark: number },
): Promise<boolean> {
  const [row] = await log.redis.xrevrange(streamKey(realmId), `${number}-0`, `${number}-0`);
  if (!row) return false;
  const [id, fields] = row;
  const { entry, data } = entryOf(id, fields);
  return entry.mark === mark && verifier.isGenuine(realmId, entry, data, fields[5]);
}

const nothing: LogEntry['event'] = { type: 'tick', body: {}, audience: { users: { ids: [] } } };

/** Invalid data has no valid signature, so the record is read instead. */
function entryOf(id: string, fields: string[]): { entry: LogEntry; data: string } {
  const [number = '0', n = '0'] = id.split('-');
  const data = fields[3] ?? '';
  const parsed = parsedOf(data);
  return { entry: { number: Number(number), n: Number(n), mark: Number(fields[1]), ...parsed }, data };
}

function parsedOf(data: string): Pick<LogEntry, 'previousMark' | 'at' | 'event'> {
  try {
    const parsed = JSON.parse(data) as Pick<LogEntry, 'previousMark' | 'at' | 'event'>;
    if (typeof parsed.event.type === 'string') return parsed;
  } catch {
    // The data is no JSON, so no service wrote it.
  }
  return { previousMark: 0, at: 0, event: nothing };
}

/** The stored form of an entry; number and mark are stored in separate fields. */
export const entryData = (entry: Pick<LogEntry, 'previousMark' | 'at' | 'event'>): string =>
  JSON.stringify({ previousMark: entry.previousMark, at: entry.at, event: entry.event });
