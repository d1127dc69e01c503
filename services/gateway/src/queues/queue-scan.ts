import {
  type Actor,
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
import { isAfter, type Position, type RealmTail } from '../log-tail/realm-tail.ts';
import type { Arrival } from './poll-arrivals.ts';
import { badQueue } from './queue-life.ts';
import { eventId, renderFor } from './render-event.ts';
import { reveal } from './reveal.ts';

/** Reads a realm's log for a queue, from the cursor of one poll. */
export interface QueueScan {
  /** The id of the last scanned event. */
  readonly lastId: number;
  /** Whether the log has more entries than were scanned. */
  readonly hasMore: boolean;
  /**
   * The next events as JSON, limited to the size of one response; empty if the log has no more for this queue.
   * `isFollowing`: the client waits for new events, so their delivery time is measured.
   */
  next(isFollowing: boolean): Promise<string[]>;
}

export interface ScanContext {
  bus: Bus;
  log: LogRedis;
  verifier: Verifier;
  /** The entry was added to the response of a client that follows. */
  onDelivered: (entry: LogEntry) => void;
  /** Number of queues whose scanned position is cached. */
  maxQueues: number;
}

interface ScanOf {
  tail: RealmTail;
  queue: QueueRecord;
  /** The user of the queue. */
  actor: Actor;
  meta: RequestMeta;
  arrival: Arrival;
  lastEventId: number;
}

const maxAnswerEvents = 1_000;
const maxAnswerBytes = 1024 * 1024;
/** A following client polls again within this time; older events waited for the client, not for the server. */
const followingMs = 1_000;
/** Then other requests have a turn: a queue may have to skip a hundred thousand entries that are not for it. */
const entriesPerTurn = 500;

/** Starts scans. Throws BAD_EVENT_QUEUE_ID for a cursor that is no event's id. */
export function createQueueScans({ bus, log, verifier, onDelivered, maxQueues }: ScanContext): {
  start(of: ScanOf): Promise<QueueScan>;
} {
  const now = (): number => log.now();
  /**
   * How far the log was scanned for a cursor, so that a queue with few matches does not scan the same entries again.
   */
  const evaluated = new LRUCache<string, { cursor: number; through: Position }>({ max: maxQueues });

  return {
    async start({ tail, queue, actor, meta, arrival, lastEventId }) {
      const queueId = queue.queue_id;
      const cursor = Math.max(lastEventId, 0);
      let from: Position = { number: queue.start + Math.floor(cursor / idsPerNumber), n: cursor % idsPerNumber };
      const known = evaluated.get(queueId);
      if (known?.cursor === lastEventId) from = known.through;
      if (from.number > tail.position.number) await checkNotAhead(meta, tail, from, queue);
      const begunAt = Date.now();
      const closed = { ...queue, all_public_streams: false };
      let isOpen = !arrival.isGuest;
      let scanned = 0;

      const eventOf = async (entry: LogEntry, isFirst: boolean): Promise<string | 'later' | undefined> => {
        if (queue.all_public_streams) isOpen = isNoGuestAfter(entry, queue.user_id, isOpen);
        const event = renderFor(isOpen && !arrival.isGuest ? queue : closed, entry, now);
        if (event === undefined || !entry.event.withheld) return event;
        // Revealing may fail, so it happens only for the first event of a response: earlier events are not delayed.
        return isFirst && !arrival.revokedAt ? reveal(bus, { meta, actor }, entry.event.withheld, event) : 'later';
      };

      /** Withheld content reflects the moment of its request, which may be after the end of the credentials. */
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
              if (++scanned % entriesPerTurn === 0) await new Promise(setImmediate);
              const event = await eventOf(entry, events.length === 0);
              if (isRefused(entry)) return events;
              // A response contains at least one event, whatever its size.
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
   * Reads what is no longer in memory from Redis, or else from the record. Leaves no gap, and never reads beyond the
   * tail: the credentials that an entry ends are revoked before the entry is delivered.
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

/** Whether the user is a non-guest after this entry. */
function isNoGuestAfter({ event }: LogEntry, userId: number, before: boolean): boolean {
  if (event.type !== 'realm_user' || event.op !== 'update') return before;
  const { person } = event.body;
  return person.user_id !== userId || person.role === undefined ? before : person.role !== roles.guest;
}
