import { eventQueueOperations, type LogEntry, type RequestMeta } from '@natter/contracts';
import { type LogRedis, logSubject, readStream, type Verifier } from '@natter/event-log';
import { apartFromRequest, type Bus, heapBytes, type Logger } from '@natter/service-kit';
import { hintOf, skipsEphemeral } from './hint.ts';
import { createKeptEntries, isAfter, type Position } from './kept-entries.ts';

export interface RealmTail {
  /** Everything after `floor` up to `position` is in memory. */
  readonly position: Position;
  readonly floor: Position;
  /** The first entries after a position, all by default; undefined if they are no longer in memory. */
  after(position: Position, most?: number): LogEntry[] | undefined;
  /** Called after every growth, until the returned function is called. */
  onGrowth(listener: () => void): () => void;
  /** When this tail last knew that it had read to the end, in terms of `performance.now()`. */
  readonly currentAt: number;
  readonly epoch: number;
  /** Memory of the entries, also of those that arrived early. */
  readonly bytes: number;
  readonly hasListeners: boolean;
  /** Drops the oldest entries until at most this many bytes are left. */
  shrinkTo(bytes: number): void;
  catchUp(): Promise<void>;
  stop(): void;
}

interface TailOptions {
  bus: Bus;
  log: LogRedis;
  verifier: Verifier;
  realmId: number;
  meta: RequestMeta;
  logger: Logger;
  onEntry: (entry: LogEntry) => void;
  /** Entries were skipped, so their effects are unknown. */
  onSkip: () => void;
  onBytes: () => void;
}

const backstopMs = 3_000;
const maxEarly = 100;
const earlyMs = 15;

/**
 * Follows one realm's log: subscribes, then reads, then checks each entry against its predecessor. Missed entries are
 * read from Redis, and those that Redis lacks, or that their owner did not sign, from the record. Never skips a durable
 * entry.
 */
export async function startTail(options: TailOptions): Promise<RealmTail> {
  const { bus, log, verifier, realmId, meta, logger } = options;
  const listeners = new Set<() => void>();
  const kept = createKeptEntries();
  let reading: Promise<void> | undefined;
  let [isAgainWanted, isStopped, isStarted] = [false, false, false];
  /** Hints with another entry under a number that this tail has: the record decides. */
  let contradictions = 0;
  /** Hints that arrived before their predecessors. */
  let early: { entries: LogEntry[]; bytes: number; behind: Position | undefined }[] = [];
  /** The last number that a service announced. The stream ends before it while Redis refuses writes. */
  let announced = 0;
  const unsubscribe = bus.subscribe(logSubject(realmId), hear);
  const clock = await readClock().catch((error: unknown) => {
    unsubscribe();
    throw error;
  });
  let position: Position = { number: clock.clock, n: 0 };
  let floor: Position = position;
  let { epoch, mark } = clock;
  let currentAt = performance.now();
  isStarted = true;
  // In a NATS cluster a subscription takes a moment to spread: read once more shortly after.
  setTimeout(() => void catchUp(), 250);
  const backstop = setInterval(() => void catchUp(), backstopMs * (0.8 + Math.random() * 0.4));
  const again = (): void => void catchUp();
  const stopReconnect = bus.onReconnect(again);
  log.redis.on('ready', again);

  return {
    get position() {
      return position;
    },
    get floor() {
      return floor;
    },
    after: (from, most) => (isAfter(floor, from) ? undefined : kept.after(from, most)),
    onGrowth(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get currentAt() {
      return currentAt;
    },
    get epoch() {
      return epoch;
    },
    get bytes() {
      return early.reduce((sum, hint) => sum + hint.bytes, kept.bytes);
    },
    get hasListeners() {
      return listeners.size > 0;
    },
    shrinkTo(most) {
      // They are read from Redis with those before them.
      if (early.length > 0) void catchUp();
      early = [];
      const last = kept.shrinkTo(most);
      if (last) floor = { number: last.number, n: last.n };
    },
    catchUp,
    stop() {
      isStopped = true;
      clearInterval(backstop);
      log.redis.off('ready', again);
      stopReconnect();
      unsubscribe();
    },
  };

  function hear(payload: Uint8Array): void {
    if (!isStarted) return;
    const hint = hintOf(payload);
    if (!hint || !verifier.isGenuineHint(realmId, hint, payload)) return void catchUp();
    announced = Math.max(announced, hint.upTo ?? hint.entries?.at(-1)?.number ?? 0);
    if (hint.entries?.some(contradicts)) contradictions++;
    if (!hint.entries || contradictions > 0) return void catchUp();
    const heard = { entries: hint.entries, behind: hint.behind };
    if (takeHint(heard)) return void takeEarly();
    // If several processes write, the later entries may be announced first.
    setTimeout(() => early.length > 0 && void catchUp(), earlyMs);
    if (early.length >= maxEarly) return;
    early.push({ ...heard, bytes: heapBytes(hint.entries) });
    options.onBytes();
  }

  /** Postgres lost its tail and gave the number again. */
  function contradicts(entry: LogEntry): boolean {
    if (entry.n > 0 || isAfter(entry, position)) return false;
    const own = entry.number === position.number ? mark : kept.markOf(entry.number);
    return own !== undefined && own !== entry.mark;
  }

  async function readClock() {
    await bus.flush();
    return bus.call(
      eventQueueOperations.readLog,
      { after: Number.MAX_SAFE_INTEGER, limit: 1, mark: undefined },
      { meta },
    );
  }

  /** Like `take`, but adds nothing if an ephemeral entry in front is missing: it would not be accepted later. */
  function takeHint({ entries: batch, behind }: Pick<(typeof early)[number], 'entries' | 'behind'>): boolean {
    const first = batch.find((entry) => isAfter(entry, position));
    return !(first && skipsEphemeral(first, position, behind)) && take(batch);
  }

  /** Adds entries that follow the tail; returns false if a durable one before them is missing. */
  function take(batch: readonly LogEntry[]): boolean {
    const before = kept.length;
    let isComplete = true;
    for (const entry of batch) {
      if (!isAfter(entry, position)) continue;
      const isNext = entry.n === 0 ? entry.number === position.number + 1 : entry.number === position.number;
      if (!isNext || (entry.n === 0 && mark !== undefined && entry.previousMark !== mark)) {
        isComplete = false;
        break;
      }
      kept.add(entry);
      position = { number: entry.number, n: entry.n };
      if (entry.n === 0) mark = entry.mark;
      options.onEntry(entry);
    }
    if (kept.length > before) {
      options.onBytes();
      for (const listener of [...listeners]) listener();
    }
    return isComplete;
  }

  /** Adds early hints that now follow, and drops those that were read meanwhile. */
  function takeEarly(): void {
    while (early.length > 0) {
      const left = early.filter((hint) => !takeHint(hint));
      if (left.length === early.length) return;
      early = left;
    }
  }

  function catchUp(): Promise<void> {
    if (reading) {
      isAgainWanted = true;
      return reading;
    }
    // Several polls may wait for it.
    reading = apartFromRequest(readOn)
      .catch((error: unknown) => logger.debug({ err: error, realm: realmId }, 'reading the log for a tail failed'))
      .finally(() => {
        reading = undefined;
        if (isAgainWanted && !isStopped) {
          isAgainWanted = false;
          void catchUp();
        }
      });
    return reading;
  }

  async function readOn(): Promise<void> {
    let through = position;
    /** The end of the log at a time near the beginning of this reading. */
    let goal: { number: number; askedAt: number } | undefined;
    for (let round = 0; round < 1_000 && !isStopped; round++) {
      const askedAt = performance.now();
      const from = isAfter(through, position) ? through : position;
      const read = await readStream(log, verifier, realmId, from).catch(() => undefined);
      through = read?.through ?? position;
      const isTaken = read !== undefined && take(read.entries);
      // Entries behind a gap were not taken, so the next read must not begin after them.
      if (!isTaken) through = position;
      if (isTaken && !read.isDoubtful && contradictions === 0) {
        if (!read.isAtEnd) continue;
        takeEarly();
        if (position.number >= announced) {
          currentAt = askedAt;
          return;
        }
      }
      const awaited = announced;
      const contradicted = contradictions;
      const wanted = { after: position.number, limit: 500, mark };
      const record = await bus.call(eventQueueOperations.readLog, wanted, { meta });
      contradictions -= contradicted;
      const missing = record.entries as LogEntry[];
      const isOfEpoch = record.epoch === epoch;
      epoch = record.epoch;
      goal ??= { number: record.clock, askedAt };
      // A number that was announced meanwhile may be newer than the answer.
      if (announced === awaited) announced = Math.min(announced, record.clock);
      if (!isOfEpoch || !take(missing)) {
        // Another history: this tail cannot continue. Queues of the old epoch end with it.
        logger.error({ realm: realmId, position }, 'the log has another history than this tail');
        kept.clear();
        early = [];
        mark = record.mark;
        position = { number: record.clock, n: 0 };
        floor = position;
        options.onSkip();
        for (const listener of [...listeners]) listener();
        return;
      }
      if (missing.length === 0 || position.number >= goal.number) {
        takeEarly();
        currentAt = missing.length === 0 ? askedAt : goal.askedAt;
        return;
      }
    }
  }
}
