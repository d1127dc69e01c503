import {
  eventQueueOperations,
  idsPerNumber,
  type LogEntry,
  type QueueRecord,
  type RequestMeta,
  roles,
} from '@natter/contracts';
import { type LogRedis, readStream, type Verifier } from '@natter/event-log';
import type { Bus } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';
import type { Arrival } from './poll-arrivals.ts';
import { badQueue } from './queue-life.ts';
import { isAfter, type Position, type RealmTail } from './realm-tail.ts';
import { eventId, renderFor } from './render-event.ts';
import { reveal } from './reveal.ts';

/** A queue's way through the log of its realm, from the cursor of one poll. */
export interface QueueScan {
  /** The id of the last event that was passed. */
  readonly lastId: number;
  /** Whether the log has more than was passed. */
  readonly hasMore: boolean;
  /**
   * The next events as JSON, at most one answer full; none where the log has no more for this queue. `isFollowing`: the client waits
   * for what comes, so that the time to deliver it is measured.
   */
  next(isFollowing: boolean): Promise<string[]>;
}

export interface ScanContext {
  bus: Bus;
  log: LogRedis;
  verifier: Verifier;
  /** The entry went into the answer of a client that follows. */
  onDelivered: (entry: LogEntry) => void;
}

interface ScanOf {
  tail: RealmTail;
  queue: QueueRecord;
  meta: RequestMeta;
  arrival: Arrival;
  lastEventId: number;
}

const maxAnswerEvents = 1_000;
const maxAnswerBytes = 1024 * 1024;
const maxEvaluated = 100_000;
/** A client that follows is back within this time; what is older waited for the client, not for us. */
const followingMs = 1_000;

/** Starts scans. Throws BAD_EVENT_QUEUE_ID for a cursor that no event had. */
export function createQueueScans({ bus, log, verifier, onDelivered }: ScanContext): {
  start(of: ScanOf): Promise<QueueScan>;
} {
  /** How far a cursor was evaluated, so that a queue with few matches does not scan the same again. */
  const evaluated = new LRUCache<string, { cursor: number; through: Position }>({ max: maxEvaluated });

  return {
    async start({ tail, queue, meta, arrival, lastEventId }) {
      const queueId = queue.queue_id;
      const cursor = Math.max(lastEventId, 0);
      let from: Position = { number: queue.start + Math.floor(cursor / idsPerNumber), n: cursor % idsPerNumber };
      const known = evaluated.get(queueId);
      if (known?.cursor === lastEventId) from = known.through;
      if (from.number > tail.position.number) await checkNotAhead(meta, tail, from, queue);
      const begunAt = Date.now();
      const closed = { ...queue, all_public_streams: false };
      let isOpen = !arrival.isGuest;

      const eventOf = async (entry: LogEntry, isFirst: boolean): Promise<string | 'later' | undefined> => {
        if (queue.all_public_streams) isOpen = isNoGuestAfter(entry, queue.user_id, isOpen);
        const event = renderFor(isOpen && !arrival.isGuest ? queue : closed, entry);
        if (event === undefined || !entry.event.withheld) return event;
        // What may fail is asked for in an answer of its own: nothing before it is held up.
        return isFirst && !arrival.revokedAt ? reveal(bus, meta, queue.user_id, entry.event.withheld, event) : 'later';
      };

      /** Withheld content is of the moment when it was asked for, which may be after the end of the credentials. */
      const isRefused = (entry: LogEntry): boolean =>
        arrival.revokedAt !== undefined && (entry.event.withheld !== undefined || isAfter(entry, arrival.revokedAt));

      return {
        get lastId() {
          return Math.max(eventId(queue, from), cursor);
        },
        get hasMore() {
          return tail.after(from)?.length !== 0;
        },
        async next(isFollowing) {
          for (;;) {
            if (arrival.revokedAt && !isAfter(arrival.revokedAt, from)) return [];
            const inMemory = tail.after(from);
            const page = inMemory ?? (await readOlder(meta, tail, queue, from));
            const events: string[] = [];
            let bytes = 0;
            for (const entry of page) {
              const event = await eventOf(entry, events.length === 0);
              if (isRefused(entry)) return events;
              // An answer holds one event at least, whatever its size.
              if (event === 'later') return events;
              if (event !== undefined && events.length > 0 && bytes + event.length > maxAnswerBytes) return events;
              from = { number: entry.number, n: entry.n };
              if (event === undefined) continue;
              events.push(event);
              bytes += event.length;
              if (isFollowing || entry.at > begunAt - followingMs) onDelivered(entry);
              if (events.length >= maxAnswerEvents) break;
            }
            if (events.length > 0) return events;
            if (!inMemory) continue;
            evaluated.set(queueId, { cursor: lastEventId, through: from });
            return [];
          }
        },
      };
    },
  };

  /**
   * What this gateway no longer has in memory: from Redis, and what Redis no longer holds from the record. Never a gap, and nothing that
   * the tail has not reached: what an entry says of credentials is followed before the entry is delivered.
   */
  async function readOlder(
    meta: RequestMeta,
    tail: RealmTail,
    queue: QueueRecord,
    from: Position,
  ): Promise<LogEntry[]> {
    const entries = await readBehind(meta, queue, from);
    const followed = entries.filter((entry) => !isAfter(entry, tail.position));
    if (followed.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    return followed;
  }

  async function readBehind(meta: RequestMeta, queue: QueueRecord, from: Position): Promise<LogEntry[]> {
    const read = await readStream(log, verifier, queue.realm_id, from).catch(() => undefined);
    const first = read?.entries[0];
    if (read && first && (first.number === from.number || (first.number === from.number + 1 && first.n === 0)))
      return read.entries;
    const record = await bus.call(eventQueueOperations.readLog, { after: from.number, limit: 500 }, { meta });
    if (record.floor > from.number || record.epoch !== queue.epoch) throw badQueue(queue.queue_id);
    const entries = record.entries as LogEntry[];
    const next = entries[0];
    if (next && next.number !== from.number + 1) throw badQueue(queue.queue_id);
    return entries;
  }

  async function checkNotAhead(meta: RequestMeta, tail: RealmTail, from: Position, queue: QueueRecord): Promise<void> {
    await tail.catchUp();
    if (from.number <= tail.position.number) return;
    const record = await bus.call(eventQueueOperations.readLog, { after: from.number, limit: 1 }, { meta });
    if (from.number > record.clock || record.epoch !== queue.epoch) throw badQueue(queue.queue_id);
  }
}

/** Whether the user is no guest after this entry. */
function isNoGuestAfter({ event: { type, op, body } }: LogEntry, userId: number, before: boolean): boolean {
  if (type !== 'realm_user' || op !== 'update') return before;
  const person = body.person as { user_id: number; role?: number };
  return person.user_id !== userId || person.role === undefined ? before : person.role !== roles.guest;
}
