import {
  type Actor,
  badRequest,
  ChatError,
  cut,
  isGuest,
  type LogEntry,
  type QueueRecord,
  type RequestMeta,
} from '@natter/contracts';
import { type LogRedis, queueSubject, type Verifier } from '@natter/event-log';
import { type Bus, type Idle, withoutCharge } from '@natter/service-kit';
import type { RealmTails } from '../log-tail/realm-tails.ts';
import type { InTurn } from '../rate-limit/in-turn.ts';
import { drainMs } from '../rate-limit/pauses.ts';
import { tenantOf } from '../rate-limit/tenant.ts';
import type { EventTexts } from './event-texts.ts';
import { type Arrival, createArrivals } from './poll-arrivals.ts';
import { badQueue, createQueueLife, type QueueLife } from './queue-life.ts';
import { createQueueOpening } from './queue-opening.ts';
import { createQueueScans } from './queue-scan.ts';
import { createScanTurns } from './scan-turns.ts';

export interface PollRequest {
  queueId: string;
  lastEventId: number;
  dontBlock: boolean;
}

/** The client's end of the connection. */
export interface Hangup {
  readonly isOver: boolean;
  /** Calls `listener` once, unless the returned function was called before. */
  onOver(listener: () => void): () => void;
}

/** The sender of a poll. */
interface Poller {
  actor: Actor;
  meta: RequestMeta;
  /** Checks the credentials of the request again; throws if they ended. */
  identify(): Promise<Actor>;
  hangup: Hangup;
}

export interface PollAnswer {
  /** Each as JSON. */
  events: string[];
  /** The cursor after the last of them. */
  lastEventId: number;
  /** The poll was ended by a newer poll, the end of the credentials, of this process, or of the queue. */
  wasEnded: boolean;
  /** The queue ended while the poll was held. */
  isGone: boolean;
}

export interface Polls {
  poll(poller: Poller, request: PollRequest): Promise<PollAnswer>;
  /** An entry of a realm's log has arrived. */
  follow(realmId: number, entry: LogEntry): void;
  /** Entries of a realm's log were lost. */
  lost(realmId: number): void;
  readonly held: number;
  stop(): Promise<void>;
}

interface Held {
  realmId: number;
  generation: number;
  order: number;
  end: (reason: 'replaced' | 'gone') => void;
}

/** Pause after a queue could not be extended. */
const retryMs = 1_000;

/** Serves `GET /events` for any queue: a queue is a cursor over its realm's log. */
export function createPolls(options: {
  bus: Bus;
  log: LogRedis;
  verifier: Verifier;
  tails: RealmTails;
  texts: EventTexts;
  /** The entry was added to the response of a client that follows. */
  onDelivered: (entry: LogEntry) => void;
  /** Decides when a part of a long scan runs. */
  inTurn: InTurn;
  /** Number of cached queues; the next poll of an evicted queue costs a few more requests. */
  maxQueues: number;
  /** Memory of the cached records of queues. */
  maxRecordBytes: number;
}): Polls {
  const { bus, log, tails, maxQueues, maxRecordBytes } = options;
  const life = createQueueLife(bus, maxQueues);
  const opening = createQueueOpening({ bus, log, life, maxQueues, maxRecordBytes });
  const scans = createQueueScans(options);
  const scanTurns = createScanTurns(options.inTurn);
  const arrivals = createArrivals();
  const held = new Map<string, Held>();
  let stopsAt = Number.POSITIVE_INFINITY;
  const isStopping = (): boolean => performance.now() >= stopsAt;
  const endSoon = (poll: Held) =>
    setTimeout(() => poll.end('replaced'), Math.random() * Math.max(0, stopsAt - performance.now()));
  const hold = (queueId: string, poll: Held): void => {
    held.set(queueId, poll);
    // The stop may have begun before.
    if (stopsAt < Number.POSITIVE_INFINITY) endSoon(poll);
  };

  bus.subscribe(queueSubject('*'), (payload, subject) => {
    const realmId = Number(subject.split('.').at(-1));
    const message = JSON.parse(Buffer.from(payload).toString('utf8')) as {
      queueId?: string;
      gone?: boolean;
      generation?: number;
      epoch?: number;
    };
    if (message.epoch !== undefined) {
      opening.begunEpoch(realmId, message.epoch);
      for (const poll of held.values()) if (poll.realmId === realmId) poll.end('replaced');
    }
    if (message.queueId === undefined) return;
    if (message.gone) opening.ended(message.queueId);
    arrivals.heard(message.queueId, message);
    const poll = held.get(message.queueId);
    if (message.gone) poll?.end('gone');
    else if (poll && (message.generation ?? 0) > poll.generation) poll.end('replaced');
  });

  async function poll(poller: Poller, request: PollRequest): Promise<PollAnswer> {
    const { queueId } = request;
    if (queueId.length > 100) throw badQueue(cut(queueId, 100));
    // Registered before it is numbered: a newer poll elsewhere may be announced before this one is held.
    const { arrival, leave } = arrivals.add(queueId, poller.actor);
    try {
      return await withoutCharge((idle) => serve(poller, request, { arrival, idle }));
    } finally {
      leave();
    }
  }

  /** From here on the end of the credentials reaches this poll: the tail runs, and the poll is registered. */
  async function identifyAgain({ identify }: Poller, arrival: Arrival): Promise<void> {
    arrival.revokedAt = undefined;
    const actor = await identify();
    arrival.isGuest ||= isGuest(actor);
  }

  async function serve(
    poller: Poller,
    request: PollRequest,
    { arrival, idle }: { arrival: Arrival; idle: Idle },
  ): Promise<PollAnswer> {
    const { actor, meta, hangup } = poller;
    const { queueId, lastEventId, dontBlock } = request;
    const [[queue, generation], tail] = await Promise.all([opening.open(actor, meta, queueId), tails.get(meta)]);
    // If the queue ended during this poll, the poll ends; only the next one gets the error.
    if (arrival.isGone) throw badQueue(queueId);
    await identifyAgain(poller, arrival);
    let ended: 'gone' | 'replaced' | undefined;
    const until = performance.now() + 45_000 + Math.random() * 10_000;
    const isOver = (): boolean => ended !== undefined || isStopping() || hangup.isOver || performance.now() > until;
    const turns = scanTurns.of({ queueId, tenant: tenantOf({ meta, actor }), isOver, idle });
    const scan = await scans.start({ tail, queue, actor, meta, arrival, lastEventId, isOver, inTurn: turns.run });
    const other = held.get(queueId);
    // If a queue has two polls, the later one ends the earlier one. Two polls of this gateway are compared by order of
    // arrival. A generation may come from a clock that was set back, or from the clock of another server: it could end the
    // later poll at once, and the client would poll again without a pause.
    const isOlder = (other?.order ?? 0) > arrival.order || arrival.newest > generation;
    if (!isOlder) other?.end('replaced');

    let isHeld = false;
    if (arrival.isGone || isOlder) ended = arrival.isGone ? 'gone' : 'replaced';
    const answer = (events: string[]): PollAnswer => ({
      events,
      lastEventId: events.length > 0 ? scan.lastId : lastEventId,
      wasEnded: events.length === 0 && (ended !== undefined || arrival.revokedAt !== undefined || isStopping()),
      isGone: ended === 'gone',
    });

    // Registered before reading, so that no entry is missed in between.
    let wake: () => void = () => undefined;
    arrival.wake = () => wake();
    const disarm = tail.onGrowth(() => wake());
    const me: Held = {
      realmId: actor.realmId,
      generation,
      order: arrival.order,
      end: (reason) => {
        ended = ended === 'gone' ? ended : reason;
        turns.leave();
        wake();
      },
    };
    if (!isOlder) hold(queueId, me);
    const stopListening = hangup.onOver(() => me.end('replaced'));
    if (hangup.isOver) me.end('replaced');
    const keeping = keepingOf(life, { queue, meta }, () => wake());
    try {
      for (;;) {
        keeping.check();
        const events = await scan.next(isHeld);
        if (events.length > 0 || arrival.revokedAt !== undefined) return answer(events);
        if (dontBlock || ended !== undefined || isStopping()) return answer([]);
        const left = until - performance.now();
        isHeld = true;
        if (left <= 0) return answer([JSON.stringify({ type: 'heartbeat', id: scan.lastId })]);
        const woken = new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(50, Math.min(left, keeping.dueIn())));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
          if (ended !== undefined || scan.hasMore) wake();
        });
        await idle(woken);
        wake = () => undefined;
      }
    } finally {
      disarm();
      stopListening();
      if (held.get(queueId) === me) held.delete(queueId);
    }
  }

  return {
    poll,
    follow: (realmId, entry) => arrivals.follow(realmId, entry),
    lost: (realmId) => arrivals.revokeAll(realmId),
    get held() {
      return held.size;
    },
    stop: async () => {
      const now = performance.now();
      stopsAt = now + drainMs;
      for (const one of held.values()) endSoon(one);
      while (held.size > 0 && performance.now() < now + drainMs * 10)
        await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
}

/** A poll without a cursor cannot continue. */
export const pollRequestOf = (queueId: string | undefined, lastEventId: number | undefined): PollRequest => {
  if (queueId === undefined) throw badRequest("Missing 'queue_id' argument");
  if (lastEventId === undefined) throw badRequest("Missing 'last_event_id' argument");
  return { queueId, lastEventId, dontBlock: false };
};

/**
 * Extends the life of a polled queue beside the poll, which delivers events meanwhile: event-queue or its table may not
 * answer for long. A poll survives an outage; only the end of its queue matters.
 */
function keepingOf(
  life: QueueLife,
  { queue, meta }: { queue: QueueRecord; meta: RequestMeta },
  onEnd: () => void,
): {
  /** Extends the queue if it is due; throws BAD_EVENT_QUEUE_ID after it was found to have ended. */
  check(): void;
  /** Time until `check` must be called again, in milliseconds. */
  dueIn(): number;
} {
  let isRunning = false;
  let pausedUntil = 0;
  let ended: ChatError | undefined;
  const dueIn = (): number =>
    isRunning ? Number.POSITIVE_INFINITY : Math.max(life.dueIn(queue), pausedUntil - performance.now());
  const extend = async (): Promise<void> => {
    isRunning = true;
    try {
      await life.keep(queue, meta);
    } catch (error) {
      if (error instanceof ChatError && error.code === 'BAD_EVENT_QUEUE_ID') ended = error;
      pausedUntil = performance.now() + retryMs * (0.8 + Math.random() * 0.4);
    }
    isRunning = false;
    onEnd();
  };
  return {
    check() {
      if (ended) throw ended;
      if (dueIn() <= 0) void extend();
    },
    dueIn,
  };
}
