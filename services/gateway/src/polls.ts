import { randomUUID } from 'node:crypto';
import {
  type Actor,
  badRequest,
  ChatError,
  eventQueueOperations,
  idsPerNumber,
  type LogEntry,
  type ParamsOf,
  type QueueRecord,
  queueRecordSchema,
  type RequestMeta,
} from '@natter/contracts';
import { type LogRedis, queueKey, queueSubject, readStream } from '@natter/event-log';
import type { Bus, Logger } from '@natter/service-kit';
import { type Position, type RealmTail, startTail } from './realm-tail.ts';
import { eventId, renderFor } from './render-event.ts';

type Params = ParamsOf<typeof eventQueueOperations.getEvents>;
export interface PollAnswer {
  events: Record<string, unknown>[];
  queue_id: string;
}

export interface Polls {
  poll(actor: Actor, meta: RequestMeta, params: Params, aborted: AbortSignal): Promise<PollAnswer>;
  tails(realmId: number): boolean;
  readonly held: number;
  stop(): Promise<void>;
}

interface Held {
  userId: number;
  end: (reason: 'replaced' | 'gone') => void;
}

const maxAnswerEvents = 1_000;
const touchEveryMs = 20_000;
/** A client that follows is back within this time; what is older waited for the client, not for us. */
const followingMs = 1_000;

/** Serves `GET /events` for any queue: a queue is a cursor over its realm's log. */
export function createPolls(options: {
  bus: Bus;
  log: LogRedis;
  logger: Logger;
  onEntry: (realmId: number, entry: LogEntry) => void;
  /** The entry went into the answer of a client that follows. */
  onDelivered: (entry: LogEntry) => void;
}): Polls {
  const { bus, log, logger } = options;
  const tails = new Map<number, Promise<RealmTail>>();
  const started = new Set<number>();
  const held = new Map<string, Held>();
  const touched = new Map<string, number>();
  /** How far a cursor was evaluated, so that a queue with few matches does not scan the same again. */
  const evaluated = new Map<string, { cursor: number; through: Position }>();
  const processId = randomUUID();
  let isStopping = false;

  bus.subscribe(queueSubject('*'), (payload) => {
    const message = JSON.parse(Buffer.from(payload).toString('utf8')) as {
      queueId?: string;
      gone?: boolean;
      from?: string;
      epoch?: number;
    };
    if (message.epoch !== undefined) for (const poll of held.values()) poll.end('replaced');
    if (message.queueId !== undefined && message.from !== processId)
      held.get(message.queueId)?.end(message.gone ? 'gone' : 'replaced');
  });

  function tailOf(realmId: number, meta: RequestMeta): Promise<RealmTail> {
    const known = tails.get(realmId);
    if (known) return known;
    const onEntry = (entry: LogEntry): void => {
      endPollsOfChanged(entry);
      options.onEntry(realmId, entry);
    };
    const tail = startTail({ bus, log, realmId, meta, logger, onEntry });
    tails.set(realmId, tail);
    tail.then(
      () => started.add(realmId),
      () => tails.delete(realmId),
    );
    return tail;
  }

  /** A user whose credentials ended is asked to authenticate again at once. */
  function endPollsOfChanged({ event }: LogEntry): void {
    if (event.type !== 'credentials_changed') return;
    for (const poll of held.values()) if (poll.userId === event.body.user_id) poll.end('replaced');
  }

  async function findQueue(actor: Actor, meta: RequestMeta, queueId: string): Promise<QueueRecord> {
    const cached = await log.redis.get(queueKey(actor.realmId, queueId)).catch(() => null);
    const queue = cached
      ? queueRecordSchema.parse(JSON.parse(cached))
      : await bus.call(eventQueueOperations.getQueue, { queue_id: queueId }, { meta });
    // A queue of somebody else answers like one that does not exist.
    if (queue.user_id !== actor.userId) throw badQueue(queueId);
    if (Date.now() - (touched.get(queueId) ?? 0) > touchInterval(queue)) await touch(meta, queue);
    return queue;
  }

  async function touch(meta: RequestMeta, queue: QueueRecord): Promise<void> {
    const { gone } = await bus.call(eventQueueOperations.touchQueues, { queue_ids: [queue.queue_id] }, { meta });
    if (gone.includes(queue.queue_id)) throw badQueue(queue.queue_id);
    if (touched.size > 100_000) touched.clear();
    touched.set(queue.queue_id, Date.now());
  }

  async function poll(actor: Actor, meta: RequestMeta, params: Params, aborted: AbortSignal): Promise<PollAnswer> {
    const { queue_id, last_event_id, dont_block } = params;
    if (last_event_id === undefined) throw badRequest("Missing 'last_event_id' argument");
    const [queue, tail] = await Promise.all([findQueue(actor, meta, queue_id), tailOf(actor.realmId, meta)]);
    const cursor = Math.max(last_event_id, 0);
    let from: Position = { number: queue.start + Math.floor(cursor / idsPerNumber), n: cursor % idsPerNumber };
    const known = evaluated.get(queue_id);
    if (known?.cursor === last_event_id) from = known.through;
    held.get(queue_id)?.end('replaced');
    bus.publish(queueSubject(actor.realmId), JSON.stringify({ queueId: queue_id, from: processId }));
    if (from.number > tail.position.number) await checkNotAhead(meta, tail, from, queue);

    const begunAt = Date.now();
    let isHeld = false;
    const answer = (events: Record<string, unknown>[]): PollAnswer => ({ events, queue_id });
    const scan = async (): Promise<Record<string, unknown>[]> => {
      for (;;) {
        const inMemory = tail.after(from);
        const page = inMemory ?? (await readOlder(meta, queue, from));
        const events: Record<string, unknown>[] = [];
        for (const entry of page) {
          const event = renderFor(queue, entry);
          if (event) events.push(event);
          if (event && (isHeld || entry.at > begunAt - followingMs)) options.onDelivered(entry);
          from = { number: entry.number, n: entry.n };
          if (events.length >= maxAnswerEvents) break;
        }
        if (events.length > 0) return events;
        if (inMemory) {
          if (evaluated.size > 100_000) evaluated.clear();
          evaluated.set(queue_id, { cursor: last_event_id, through: from });
          return [];
        }
      }
    };

    // Armed before reading, so that nothing that comes meanwhile is missed.
    let wake: (reason: string) => void = () => undefined;
    const disarm = tail.onGrowth(() => wake('grown'));
    const me: Held = { userId: actor.userId, end: (reason) => wake(reason) };
    let ended: string | undefined;
    me.end = (reason) => {
      ended ??= reason;
      wake(reason);
    };
    held.set(queue_id, me);
    const onAbort = (): void => me.end('replaced');
    aborted.addEventListener('abort', onAbort);
    const until = Date.now() + 45_000 + Math.random() * 10_000;
    try {
      for (;;) {
        const events = await scan();
        if (events.length > 0) return answer(events);
        if (ended === 'gone') throw badQueue(queue_id);
        if (dont_block || ended !== undefined || isStopping) return answer([]);
        const left = until - Date.now();
        isHeld = true;
        if (left <= 0) return answer([{ type: 'heartbeat', id: Math.max(eventId(queue, from), cursor) }]);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.min(left, touchInterval(queue)));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
          if (ended !== undefined || tail.after(from)?.length !== 0) wake('already');
        });
        wake = () => undefined;
        if (Date.now() - (touched.get(queue_id) ?? 0) > touchInterval(queue))
          await touch(meta, queue).catch(ignoreOutage);
      }
    } finally {
      disarm();
      aborted.removeEventListener('abort', onAbort);
      if (held.get(queue_id) === me) held.delete(queue_id);
    }
  }

  /** What this gateway no longer has in memory: from Redis, and what Redis no longer holds from the record. Never a gap. */
  async function readOlder(meta: RequestMeta, queue: QueueRecord, from: Position): Promise<LogEntry[]> {
    const fromStream = await readStream(log, queue.realm_id, from, 500).catch((): LogEntry[] => []);
    const first = fromStream[0];
    if (first && (first.number === from.number || (first.number === from.number + 1 && first.n === 0)))
      return fromStream;
    const record = await bus.call(eventQueueOperations.readLog, { after: from.number, limit: 500 }, { meta });
    if (record.floor > from.number || record.epoch !== queue.epoch) throw badQueue(queue.queue_id);
    return record.entries as LogEntry[];
  }

  async function checkNotAhead(meta: RequestMeta, tail: RealmTail, from: Position, queue: QueueRecord): Promise<void> {
    await tail.catchUp();
    if (from.number <= tail.position.number) return;
    const record = await bus.call(eventQueueOperations.readLog, { after: from.number, limit: 1 }, { meta });
    if (from.number > record.clock) throw badQueue(queue.queue_id);
  }

  return {
    poll,
    tails: (realmId) => started.has(realmId),
    get held() {
      return held.size;
    },
    stop: async () => {
      isStopping = true;
      for (const one of held.values()) setTimeout(() => one.end('replaced'), Math.random() * 300);
      while (held.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
      for (const tail of tails.values()) (await tail).stop();
    },
  };
}

const touchInterval = (queue: QueueRecord): number => Math.min(touchEveryMs, queue.idle_timeout_seconds * 100);
const badQueue = (queueId: string): ChatError =>
  new ChatError('BAD_EVENT_QUEUE_ID', `Bad event queue ID: ${queueId}`, { queue_id: queueId });

/** A held poll outlives an outage; that its queue is gone is the only news. */
function ignoreOutage(error: unknown): void {
  if (error instanceof ChatError && error.code === 'BAD_EVENT_QUEUE_ID') throw error;
}
