import { randomUUID } from 'node:crypto';
import {
  type Actor,
  badRequest,
  ChatError,
  eventQueueOperations,
  idsPerNumber,
  isGuest,
  type LogEntry,
  type QueueRecord,
  queueRecordSchema,
  type RequestMeta,
  roles,
} from '@natter/contracts';
import { generationKey, type LogRedis, queueKey, queueSubject, readStream, type Verifier } from '@natter/event-log';
import type { Bus } from '@natter/service-kit';
import { badQueue, createQueueLife } from './queue-life.ts';
import type { Position, RealmTail } from './realm-tail.ts';
import type { RealmTails } from './realm-tails.ts';
import { eventId, renderFor } from './render-event.ts';
import { reveal } from './reveal.ts';

export interface PollRequest {
  queueId: string;
  lastEventId: number;
  dontBlock: boolean;
}

/** The client's end of the connection. */
export interface Hangup {
  readonly isOver: boolean;
  /** Calls back once, until the returned function is called. */
  onOver(listener: () => void): () => void;
}

export interface PollAnswer {
  /** Each as JSON. */
  events: string[];
  /** The cursor after the last of them. */
  lastEventId: number;
  /** A newer poll, or the end of this process or of the queue, ended this one. */
  wasEnded: boolean;
  /** The queue ended while it was held. */
  isGone: boolean;
}

export interface Polls {
  poll(actor: Actor, meta: RequestMeta, request: PollRequest, hangup: Hangup): Promise<PollAnswer>;
  /** An entry of a realm's log has arrived. */
  follow(realmId: number, entry: LogEntry): void;
  readonly held: number;
  stop(): Promise<void>;
}

interface Held {
  realmId: number;
  userId: number;
  generation: number;
  /** Order of arrival at this gateway. */
  order: number;
  end: (reason: 'replaced' | 'gone') => void;
}

/** What was heard of a queue since a poll of it came, which may not be held yet. */
interface Arrival {
  realmId: number;
  userId: number;
  /** A guest follows no channels but their own, whatever their queue was made for. */
  isGuest: boolean;
  order: number;
  newest: number;
  isGone: boolean;
}

const maxAnswerEvents = 1_000;
const maxAnswerBytes = 1024 * 1024;
const drainMs = 300;
/** A client that follows is back within this time; what is older waited for the client, not for us. */
const followingMs = 1_000;

/** Serves `GET /events` for any queue: a queue is a cursor over its realm's log. */
export function createPolls(options: {
  bus: Bus;
  log: LogRedis;
  verifier: Verifier;
  tails: RealmTails;
  /** The entry went into the answer of a client that follows. */
  onDelivered: (entry: LogEntry) => void;
}): Polls {
  const { bus, log, verifier, tails } = options;
  const life = createQueueLife(bus);
  const held = new Map<string, Held>();
  const arrivals = new Map<string, Set<Arrival>>();
  /** How far a cursor was evaluated, so that a queue with few matches does not scan the same again. */
  const evaluated = new Map<string, { cursor: number; through: Position }>();
  const epochs = new Map<number, number>();
  /** Records as they were last read, by their text. */
  const records = new Map<string, { text: string; record: QueueRecord }>();
  const gatewayId = randomUUID();
  let arrived = 0;
  let isStopping = false;

  bus.subscribe(queueSubject('*'), (payload, subject) => {
    const realmId = Number(subject.split('.').at(-1));
    const message = JSON.parse(Buffer.from(payload).toString('utf8')) as {
      queueId?: string;
      gone?: boolean;
      generation?: number;
      epoch?: number;
    };
    if (message.epoch !== undefined) {
      epochs.set(realmId, message.epoch);
      for (const poll of held.values()) if (poll.realmId === realmId) poll.end('replaced');
    }
    if (message.queueId === undefined) return;
    for (const arrival of arrivals.get(message.queueId) ?? []) {
      arrival.isGone ||= message.gone === true;
      arrival.newest = Math.max(arrival.newest, message.generation ?? 0);
    }
    const poll = held.get(message.queueId);
    if (message.gone) poll?.end('gone');
    else if (poll && (message.generation ?? 0) > poll.generation) poll.end('replaced');
  });

  /**
   * The queue's record and the number of this poll: microseconds of the clock of Redis, or of this process without Redis. Numbers
   * grow over all gateways, so that the newest of two polls survives. A gateway that may hold an older poll is notified.
   */
  async function begin(actor: Actor, meta: RequestMeta, queueId: string): Promise<[QueueRecord, number]> {
    const { realmId } = actor;
    const keys: [string, string] = [queueKey(realmId, queueId), generationKey(realmId, queueId)];
    const count = () => log.pollScript(keys, [actor.userId, gatewayId, 3_600]).catch(() => undefined);
    let counted = await count();
    const cached = counted?.[0] ?? null;
    const known = cached === null ? undefined : recordOf(queueId, cached);
    const isUsable = known !== undefined && known.epoch >= (epochs.get(realmId) ?? 0);
    const queue = isUsable ? known : await bus.call(eventQueueOperations.getQueue, { queue_id: queueId }, { meta });
    // A queue of somebody else answers like one that does not exist.
    if (queue.user_id !== actor.userId) throw badQueue(queueId);
    await life.keep(queue, meta);
    if (!counted?.[1]) counted = await count();
    const generation = counted?.[1] || Date.now() * 1_000;
    if (counted?.[2] !== gatewayId) bus.publish(queueSubject(realmId), JSON.stringify({ queueId, generation }));
    return [queue, generation];
  }

  function recordOf(queueId: string, text: string): QueueRecord | undefined {
    const known = records.get(queueId);
    if (known?.text === text) return known.record;
    const record = queueRecordSchema.safeParse(JSON.parse(text)).data;
    if (records.size > 100_000) records.clear();
    if (record) records.set(queueId, { text, record });
    return record;
  }

  async function poll(actor: Actor, meta: RequestMeta, request: PollRequest, hangup: Hangup): Promise<PollAnswer> {
    const { queueId } = request;
    if (queueId.length > 100) throw badQueue(queueId.slice(0, 100));
    // From before it is counted: a newer poll elsewhere may tell of itself before this one is held.
    const arrival: Arrival = {
      realmId: actor.realmId,
      userId: actor.userId,
      isGuest: isGuest(actor),
      order: ++arrived,
      newest: 0,
      isGone: false,
    };
    const here = arrivals.get(queueId) ?? new Set();
    arrivals.set(queueId, here.add(arrival));
    try {
      return await serve(actor, meta, request, arrival, hangup);
    } finally {
      here.delete(arrival);
      if (here.size === 0) arrivals.delete(queueId);
    }
  }

  async function serve(
    actor: Actor,
    meta: RequestMeta,
    { queueId, lastEventId, dontBlock }: PollRequest,
    arrival: Arrival,
    hangup: Hangup,
  ): Promise<PollAnswer> {
    const [[queue, generation], tail] = await Promise.all([begin(actor, meta, queueId), tails.get(meta)]);
    const cursor = Math.max(lastEventId, 0);
    let from: Position = { number: queue.start + Math.floor(cursor / idsPerNumber), n: cursor % idsPerNumber };
    const known = evaluated.get(queueId);
    if (known?.cursor === lastEventId) from = known.through;
    if (from.number > tail.position.number) await checkNotAhead(meta, tail, from, queue);
    const other = held.get(queueId);
    // Of two polls the later one waits. Those of this gateway are compared by arrival: numbers of a clock that was set back, or of
    // another server's clock, would end the later one at once, and its client would ask again without a pause.
    const isOlder = (other?.order ?? 0) > arrival.order || arrival.newest > generation;
    if (!isOlder) other?.end('replaced');

    const begunAt = Date.now();
    let isHeld = false;
    let ended: 'gone' | 'replaced' | undefined = arrival.isGone ? 'gone' : isOlder ? 'replaced' : undefined;
    const closed = { ...queue, all_public_streams: false };
    let isOpen = !arrival.isGuest;
    const answer = (events: string[], wasEnded = false): PollAnswer => ({
      events,
      lastEventId: events.length > 0 ? Math.max(eventId(queue, from), cursor) : lastEventId,
      wasEnded,
      isGone: ended === 'gone',
    });
    const scan = async (): Promise<string[]> => {
      for (;;) {
        const inMemory = tail.after(from);
        const page = inMemory ?? (await readOlder(meta, queue, from));
        const events: string[] = [];
        let bytes = 0;
        for (const entry of page) {
          if (queue.all_public_streams) isOpen = isNoGuestAfter(entry, queue.user_id, isOpen);
          let event = renderFor(isOpen && !arrival.isGuest ? queue : closed, entry);
          if (event !== undefined && entry.event.withheld) {
            // What may fail is asked for in an answer of its own: nothing before it is held up.
            if (events.length > 0) return events;
            event = await reveal(bus, meta, queue.user_id, entry.event.withheld, event);
          }
          // An answer holds one event at least, whatever its size.
          if (event !== undefined && events.length > 0 && bytes + event.length > maxAnswerBytes) return events;
          from = { number: entry.number, n: entry.n };
          if (event === undefined) continue;
          events.push(event);
          bytes += event.length;
          if (isHeld || entry.at > begunAt - followingMs) options.onDelivered(entry);
          if (events.length >= maxAnswerEvents) break;
        }
        if (events.length > 0) return events;
        if (!inMemory) continue;
        if (evaluated.size > 100_000) evaluated.clear();
        evaluated.set(queueId, { cursor: lastEventId, through: from });
        return [];
      }
    };

    // Armed before reading, so that nothing that comes meanwhile is missed.
    let wake: () => void = () => undefined;
    const disarm = tail.onGrowth(() => wake());
    const me: Held = {
      realmId: actor.realmId,
      userId: actor.userId,
      generation,
      order: arrival.order,
      end: (reason) => {
        ended = ended === 'gone' ? ended : reason;
        wake();
      },
    };
    if (!isOlder) held.set(queueId, me);
    const stopListening = hangup.onOver(() => me.end('replaced'));
    if (hangup.isOver) me.end('replaced');
    const until = Date.now() + 45_000 + Math.random() * 10_000;
    try {
      for (;;) {
        // A poll that was held when its queue ended is done with it; only the next one is told.
        if (ended === 'gone' && !isHeld) throw badQueue(queueId);
        const events = await scan();
        if (events.length > 0) return answer(events);
        if (dontBlock || ended !== undefined || isStopping) return answer([], ended !== undefined || isStopping);
        const left = until - Date.now();
        isHeld = true;
        if (left <= 0)
          return answer([JSON.stringify({ type: 'heartbeat', id: Math.max(eventId(queue, from), cursor) })]);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(50, Math.min(left, life.dueIn(queue))));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
          if (ended !== undefined || tail.after(from)?.length !== 0) wake();
        });
        wake = () => undefined;
        if (ended === undefined) await life.keep(queue, meta).catch(ignoreOutage);
      }
    } finally {
      disarm();
      stopListening();
      if (held.get(queueId) === me) held.delete(queueId);
    }
  }

  /** What this gateway no longer has in memory: from Redis, and what Redis no longer holds from the record. Never a gap. */
  async function readOlder(meta: RequestMeta, queue: QueueRecord, from: Position): Promise<LogEntry[]> {
    const read = await readStream(log, verifier, queue.realm_id, from).catch(() => undefined);
    const first = read?.entries[0];
    if (read && first && (first.number === from.number || (first.number === from.number + 1 && first.n === 0)))
      return read.entries;
    const record = await bus.call(eventQueueOperations.readLog, { after: from.number, limit: 500 }, { meta });
    if (record.floor > from.number || record.epoch !== queue.epoch) throw badQueue(queue.queue_id);
    const entries = record.entries as LogEntry[];
    const next = entries[0];
    if (next && next.number !== from.number + 1) throw badQueue(queue.queue_id);
    if (!next) await new Promise((resolve) => setTimeout(resolve, 20));
    return entries;
  }

  async function checkNotAhead(meta: RequestMeta, tail: RealmTail, from: Position, queue: QueueRecord): Promise<void> {
    await tail.catchUp();
    if (from.number <= tail.position.number) return;
    const record = await bus.call(eventQueueOperations.readLog, { after: from.number, limit: 1 }, { meta });
    if (from.number > record.clock || record.epoch !== queue.epoch) throw badQueue(queue.queue_id);
  }

  return {
    poll,
    /** A user whose credentials ended is asked to authenticate again at once; one who became a guest sees as one at once. */
    follow(realmId, { event: { type, op, body } }) {
      const of = (userId: unknown) =>
        [...held.values()].filter((one) => one.realmId === realmId && one.userId === userId);
      if (type === 'credentials_changed') for (const one of of(body.user_id)) one.end('replaced');
      // Every key of the realm is refused from now on.
      if (type === 'realm' && op === 'deactivated')
        for (const one of held.values()) if (one.realmId === realmId) one.end('replaced');
      if (type !== 'realm_user' || op !== 'update') return;
      const { user_id, role } = body.person as { user_id: number; role?: number };
      if (role === undefined) return;
      for (const all of arrivals.values())
        for (const one of all)
          if (one.realmId === realmId && one.userId === user_id) one.isGuest = role === roles.guest;
    },
    get held() {
      return held.size;
    },
    stop: async () => {
      // Not all at once: they come back at the other gateways.
      setTimeout(() => {
        isStopping = true;
      }, drainMs);
      const end = Date.now() + drainMs * 10;
      for (const one of held.values()) setTimeout(() => one.end('replaced'), Math.random() * drainMs);
      while (held.size > 0 && Date.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (isStopping) for (const one of held.values()) one.end('replaced');
      }
    },
  };
}

/** A poll without a cursor cannot go on. */
export const pollRequestOf = (queueId: string | undefined, lastEventId: number | undefined): PollRequest => {
  if (queueId === undefined) throw badRequest("Missing 'queue_id' argument");
  if (lastEventId === undefined) throw badRequest("Missing 'last_event_id' argument");
  return { queueId, lastEventId, dontBlock: false };
};

/** Whether the user is no guest after this entry. */
function isNoGuestAfter({ event: { type, op, body } }: LogEntry, userId: number, before: boolean): boolean {
  if (type !== 'realm_user' || op !== 'update') return before;
  const person = body.person as { user_id: number; role?: number };
  return person.user_id !== userId || person.role === undefined ? before : person.role !== roles.guest;
}

/** A held poll outlives an outage; that its queue is gone is the only news. */
function ignoreOutage(error: unknown): void {
  if (error instanceof ChatError && error.code === 'BAD_EVENT_QUEUE_ID') throw error;
}
