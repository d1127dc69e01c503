import { isRead, type LogEntry, type LogEvent } from '@natter/contracts';
import { committedSubject, logSubject, metaKey, streamKey } from './keys.ts';
import type { LogRedis } from './redis.ts';
import { type Signer, signEntry, signEphemeral, signHint } from './signing.ts';
import { entryData } from './stream.ts';

export interface AppenderOptions {
  log: LogRedis;
  publish: (subject: string, payload: string) => void;
  /** Reads entries after a number from Postgres; only event-queue may. */
  readRecord: ((realmId: number, after: number, limit: number) => Promise<LogEntry[]>) | undefined;
  /** What this service signs with; unsigned entries are delivered too, after a look at the record. */
  signer: () => Promise<Signer | undefined>;
  /** Commits a durable no-op event, so that the stream stands on a number nobody was given ids behind. */
  commitTick: (realmId: number) => Promise<void>;
  onConflict: (realmId: number) => void;
  onError: (error: unknown) => void;
  maxLength: number;
  secondsToLive: number;
}

export interface Appender {
  /** Tells consumers of committed entries, brings these into the stream and tells the gateways. Never throws; the sweep does what failed here. */
  append(realmId: number, entries: readonly LogEntry[]): Promise<void>;
  /** Brings the stream up to the record. */
  catchUp(realmId: number, streamLast: number): Promise<void>;
  /** Adds an event that is never recorded. Dropped with an error when Redis is away. */
  appendEphemeral(realmId: number, event: LogEvent): Promise<void>;
}

const portionBytes = 64 * 1024;
/** How often what another process committed before is waited for, each time twice as long, before it is left to the sweep. */
const gapAttempts = 8;
const gapMs = 2;
const chunk = 500;
const batchEntries = 200;
const batchCharacters = 512 * 1024;

export function createAppender(options: AppenderOptions): Appender {
  const { log } = options;
  const keys = (realmId: number): [string, string] => [streamKey(realmId), metaKey(realmId)];

  /** In batches, since one command with every entry of a large change would hold up Redis and overflow the client. */
  async function write(
    realmId: number,
    entries: readonly LogEntry[],
    { isFromRecord }: { isFromRecord: boolean },
  ): Promise<[string, number]> {
    let answer: [string, number] = ['ok', entries.at(-1)?.number ?? 0];
    for (const batch of batches(entries)) {
      answer = await writeBatch(realmId, batch.entries, batch.data, isFromRecord);
      if (answer[0] === 'gap' || answer[0] === 'conflict') return answer;
    }
    return answer;
  }

  async function writeBatch(
    realmId: number,
    entries: readonly LogEntry[],
    data: string[],
    isFromRecord: boolean,
  ): Promise<[string, number]> {
    const signer = await options.signer();
    const args = entries.flatMap((entry, index) => {
      const text = data[index] ?? '';
      const signature = signer ? signEntry(signer, realmId, entry, text) : '';
      return [entry.number, entry.mark, entry.previousMark, text, signature];
    });
    const answer = await log.appendScript(keys(realmId), [
      isFromRecord ? '' : await log.runId(),
      options.maxLength,
      options.secondsToLive,
      ...args,
    ]);
    if (answer[0] === 'ok') await announce(realmId, entries, data);
    return answer;
  }

  /** To gateways what was committed, in portions. */
  async function announce(realmId: number, entries: readonly LogEntry[], data = entries.map(entryData)): Promise<void> {
    for (const portion of portions(entries, data)) await tell(realmId, portion);
  }

  async function tell(realmId: number, hint: object): Promise<void> {
    const signer = await options.signer();
    options.publish(logSubject(realmId), signer ? signHint(signer, realmId, hint) : JSON.stringify(hint));
  }

  async function append(realmId: number, entries: readonly LogEntry[]): Promise<void> {
    // Consumers read the record: they need not wait for Redis, which may be slow or away.
    for (const type of new Set(entries.map((entry) => entry.event.type)))
      if (isRead(type)) options.publish(committedSubject(type, realmId), '');
    try {
      for (let attempt = 0; ; attempt++) {
        const [status, number] = await write(realmId, entries, { isFromRecord: false });
        if (status === 'conflict') return options.onConflict(realmId);
        if (status !== 'gap') return;
        if (attempt >= gapAttempts)
          return await (options.readRecord ? catchUp(realmId, number) : announce(realmId, entries));
        await new Promise((resolve) => setTimeout(resolve, gapMs * 2 ** attempt * (0.5 + Math.random())));
      }
    } catch (error) {
      options.onError(error);
      // Redis refuses or is away: gateways take what is announced, and read from the record what lies before it.
      await announce(realmId, entries).catch(options.onError);
    }
  }

  async function catchUp(realmId: number, streamLast: number): Promise<void> {
    if (!options.readRecord) throw new Error('Only event-queue reads the record');
    for (let after = streamLast; ; ) {
      const missing = await options.readRecord(realmId, after, chunk);
      const [first, last] = [missing[0], missing.at(-1)];
      if (!first || !last) return;
      // The record no longer holds what lies between: the stream begins anew.
      if (first.number > after + 1) await log.redis.del(...keys(realmId));
      const [status] = await write(realmId, missing, { isFromRecord: true });
      if (status === 'conflict') return options.onConflict(realmId);
      if (missing.length < chunk) return;
      after = last.number;
    }
  }

  async function appendEphemeral(realmId: number, event: LogEvent): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt++) {
      const at = Date.now();
      const [runId, signer] = await Promise.all([log.runId(), options.signer()]);
      const data = entryData({ previousMark: 0, at, event });
      const [number = 0, n = 0, mark = 0] = await log.ephemeralScript(keys(realmId), [
        runId,
        31,
        data,
        signer ? signEphemeral(signer, realmId, data) : '',
      ]);
      if (number > 0) {
        return tell(realmId, { entries: [{ number, n, mark, previousMark: 0, at, event }] });
      }
      await options.commitTick(realmId);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error('No place for an ephemeral event');
  }

  return { append, catchUp, appendEphemeral };
}

/** Entries with their texts, in order. A batch holds one entry at least. */
export function* batches(entries: readonly LogEntry[]): Generator<{ entries: LogEntry[]; data: string[] }> {
  let batch: { entries: LogEntry[]; data: string[] } = { entries: [], data: [] };
  let size = 0;
  for (const entry of entries) {
    const text = entryData(entry);
    if (batch.entries.length > 0 && (batch.entries.length >= batchEntries || size + text.length > batchCharacters)) {
      yield batch;
      batch = { entries: [], data: [] };
      size = 0;
    }
    batch.entries.push(entry);
    batch.data.push(text);
    size += text.length;
  }
  if (batch.entries.length > 0) yield batch;
}

/** What is larger by itself than a portion may be is announced by its number, and read from Redis. */
function portions(
  entries: readonly LogEntry[],
  data: readonly string[],
): ({ entries: LogEntry[] } | { upTo: number })[] {
  const all: ({ entries: LogEntry[] } | { upTo: number })[] = [];
  let current: LogEntry[] = [];
  let size = 0;
  const end = (): void => {
    if (current.length > 0) all.push({ entries: current });
    current = [];
    size = 0;
  };
  for (const [index, entry] of entries.entries()) {
    const bytes = data[index]?.length ?? 0;
    if (size + bytes > portionBytes) end();
    if (bytes > portionBytes) all.push({ upTo: entry.number });
    else current.push(entry);
    size += bytes;
  }
  end();
  return all;
}
