import { isRead, type LogEntry, type LogEvent } from '@natter/contracts';
import { committedSubject, logSubject, metaKey, streamKey } from './keys.ts';
import { afterWaiting, promptly, promptMs } from './promptly.ts';
import type { LogRedis } from './redis.ts';
import { type Signer, signEntry, signEphemeral, signHint } from './signing.ts';
import { entryData } from './stream.ts';

export interface AppenderOptions {
  log: LogRedis;
  publish: (subject: string, payload: string) => void;
  /**
   * Reads entries after a number from Postgres, and fewer than the limit if they are large; allowed for event-queue only.
   */
  readRecord: ((realmId: number, after: number, limit: number) => Promise<LogEntry[]>) | undefined;
  /**
   * Signs entries of this service. Unsigned entries are delivered too, after gateways compared them with the record.
   */
  signer: () => Promise<Signer | undefined>;
  /** Commits a durable event. */
  commit: (realmId: number, event: LogEvent) => Promise<void>;
  onConflict: (realmId: number) => void;
  onError: (error: unknown) => void;
  /** Limits of a realm's stream in Redis; what is older is read from the record. */
  maxLength: number;
  maxBytes: number;
  secondsToLive: number;
}

export interface Appender {
  /**
   * Notifies consumers of committed entries, appends the entries to the stream and notifies the gateways, which do not wait
   * for a slow Redis. Never throws; the sweep repeats a failed append.
   */
  append(realmId: number, entries: readonly LogEntry[]): Promise<void>;
  /**
   * Adds the entries of the record after `streamLast`, at least through `goal`, to the stream. If Redis refuses, it throws and
   * makes gateways read the record.
   */
  catchUp(realmId: number, streamLast: number, goal: number): Promise<void>;
  /**
   * Adds an event that is not recorded. If Redis refuses it or is slow, the event is recorded; gateways skip it once it is
   * outdated.
   */
  appendEphemeral(realmId: number, event: LogEvent): Promise<void>;
}

/** An event without content and audience, which takes a number. */
const tick: LogEvent = { type: 'tick', body: {}, audience: { users: { ids: [] } } };
/** Maximum number of ephemeral entries between two durable ones. */
const maxEphemeral = 31;
const ephemeralAttempts = 3;
const portionBytes = 64 * 1024;
/**
 * Number of waits for entries that another process committed before, each twice as long. Then the sweep appends them.
 */
const gapAttempts = 8;
const gapMs = 2;
const chunk = 500;
const batchEntries = 200;
const batchCharacters = 512 * 1024;

/** Announces entries. `behind`: the last ephemeral entry before them. */
type Announce = (
  realmId: number,
  entries: readonly LogEntry[],
  data?: string[],
  behind?: { number: number; n: number },
) => Promise<void>;

export function createAppender(options: AppenderOptions): Appender {
  const { log } = options;
  const keys = (realmId: number): [string, string] => [streamKey(realmId), metaKey(realmId)];

  /** In batches: one command with every entry of a large change would block Redis and overflow the client. */
  async function write(
    realmId: number,
    entries: readonly LogEntry[],
    { isFromRecord, onWritten }: { isFromRecord: boolean; onWritten: Announce },
  ): Promise<[string, number]> {
    let answer: [string, number] = ['ok', entries.at(-1)?.number ?? 0];
    let isFirst = true;
    for (const batch of batches(entries)) {
      // Lets other work of the process run between batches.
      if (!isFirst) await new Promise((resolve) => setImmediate(resolve));
      isFirst = false;
      answer = await writeBatch(realmId, batch.entries, batch.data, { isFromRecord, onWritten });
      if (answer[0] === 'gap' || answer[0] === 'conflict') return answer;
    }
    return answer;
  }

  async function writeBatch(
    realmId: number,
    entries: readonly LogEntry[],
    data: string[],
    { isFromRecord, onWritten }: { isFromRecord: boolean; onWritten: Announce },
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
      options.maxBytes,
      options.secondsToLive,
      ...args,
    ]);
    const [status, number, before, n] = answer;
    if (status === 'ok') await onWritten(realmId, entries, data, n > 0 ? { number: before, n } : undefined);
    return [status, number];
  }

  /**
   * Announces committed entries to gateways, in portions. `behind`: the last ephemeral entry before them. Another process
   * announces it, perhaps later.
   */
  async function announce(
    realmId: number,
    entries: readonly LogEntry[],
    data = entries.map(entryData),
    behind?: { number: number; n: number },
  ): Promise<void> {
    for (const portion of portions(entries, data)) await send(realmId, behind ? { ...portion, behind } : portion);
  }

  async function send(realmId: number, hint: object): Promise<void> {
    const signer = await options.signer();
    options.publish(logSubject(realmId), signer ? signHint(signer, realmId, hint) : JSON.stringify(hint));
  }

  /**
   * Announces the entries of one append, each once: when they are written, or when Redis did not accept one for a while.
   */
  function announceOnce(realmId: number, entries: readonly LogEntry[]) {
    let announced = 0;
    const announceRest = async (): Promise<void> => {
      const rest = entries.filter(({ number }) => number > announced);
      announced = Math.max(announced, rest.at(-1)?.number ?? 0);
      await announce(realmId, rest);
    };
    const startWaiting = () => afterWaiting(promptMs, () => void announceRest().catch(options.onError));
    let stopWaiting = startWaiting();
    const onWritten: Announce = async (_, written, data, behind) => {
      const last = written.at(-1)?.number ?? 0;
      if (last <= announced) return;
      announced = last;
      stopWaiting();
      stopWaiting = startWaiting();
      await announce(realmId, written, data, behind);
    };
    return { onWritten, announceRest, end: () => stopWaiting() };
  }

  async function append(realmId: number, entries: readonly LogEntry[]): Promise<void> {
    // Consumers read the record, so they need not wait for Redis, which may be slow or unavailable.
    for (const type of new Set(entries.map((entry) => entry.event.type)))
      if (isRead(type)) options.publish(committedSubject(type, realmId), '');
    const { onWritten, announceRest, end } = announceOnce(realmId, entries);
    try {
      for (let attempt = 0; ; attempt++) {
        const [status, number] = await write(realmId, entries, { isFromRecord: false, onWritten });
        if (status === 'conflict') return options.onConflict(realmId);
        if (status !== 'gap') return;
        if (attempt >= gapAttempts)
          return await (options.readRecord ? catchUp(realmId, number, entries.at(-1)?.number ?? 0) : announceRest());
        await new Promise((resolve) => setTimeout(resolve, gapMs * 2 ** attempt * (0.5 + Math.random())));
      }
    } catch (error) {
      options.onError(error);
      // Redis refuses or is unavailable: gateways use the announced entries, and read earlier ones from the record.
      await announceRest().catch(options.onError);
    } finally {
      end();
    }
  }

  async function catchUp(realmId: number, streamLast: number, goal: number): Promise<void> {
    if (!options.readRecord) throw new Error('Only event-queue may read the record');
    // A busy realm always has newer events, which their own committers append.
    for (let after = streamLast; after < goal; ) {
      const missing = await options.readRecord(realmId, after, chunk);
      const [first, last] = [missing[0], missing.at(-1)];
      if (!first || !last) return;
      // The record no longer has the entries in between: the stream restarts.
      if (first.number > after + 1) await log.redis.del(...keys(realmId));
      const [status] = await write(realmId, missing, { isFromRecord: true, onWritten: announce }).catch(
        async (error: unknown) => {
          // The process that committed the entries may have died before it announced them.
          await send(realmId, { upTo: last.number });
          throw error;
        },
      );
      if (status === 'conflict') return options.onConflict(realmId);
      after = last.number;
    }
  }

  async function appendEphemeral(realmId: number, event: LogEvent): Promise<void> {
    const signer = await options.signer();
    // Gateways skip an unsigned entry that they can't find in the record.
    for (let attempt = 0; signer && attempt < ephemeralAttempts; attempt++) {
      const at = log.now();
      const asked = addEphemeral(realmId, signer, { previousMark: 0, at, event });
      const place = await promptly(asked).catch((error: unknown) => void options.onError(error));
      if (!place) break;
      const [number = 0, n = 0, mark = 0] = place;
      if (number > 0) return send(realmId, { entries: [{ number, n, mark, previousMark: 0, at, event }] });
      // The stream must end at a number after which no ephemeral ids were assigned.
      await options.commit(realmId, tick);
      await new Promise((resolve) => setTimeout(resolve, 5 * 4 ** attempt));
    }
    // Redis refuses the event, or the entry that must precede it, or is slow: a durable event could overtake this one.
    await options.commit(realmId, event);
  }

  /** Number, position after it, and mark of the preceding durable entry. The number is 0 if a durable entry must come first. */
  async function addEphemeral(
    realmId: number,
    signer: Signer,
    entry: Parameters<typeof entryData>[0],
  ): Promise<number[]> {
    const data = entryData(entry);
    const signature = signEphemeral(signer, realmId, data);
    return log.ephemeralScript(keys(realmId), [await log.runId(), maxEphemeral, data, signature]);
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

/** An entry larger than a portion is announced by its number, and read from Redis. */
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
