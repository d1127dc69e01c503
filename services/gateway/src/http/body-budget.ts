import { ChatError, unavailable } from '@natter/contracts';
import { createMemoryShares, type Sender } from './memory-shares.ts';

/** The memory of one request's body. It is freed when its last holder releases it. */
export interface BodyLease {
  /** Throws RATE_LIMIT_HIT if the caller holds too much, SERVICE_UNAVAILABLE if the process does. */
  grow(bytes: number): void;
  retain(): void;
  release(): void;
}

/** The connection on which a body arrives. */
export interface Arrival {
  /** Whether the request had no effect if the connection were closed: its body has not arrived, or it is a poll. */
  readonly mayBeCut: boolean;
  /** Closes the connection. */
  cut(): void;
}

export interface BodyBudget {
  open(sender: Sender, arrival: Arrival): BodyLease;
  readonly held: number;
}

interface Body {
  caller: string;
  arrival: Arrival;
  bytes: number;
  /** Time of the first bytes, in milliseconds. */
  since: number;
  release(): void;
}

/** A younger body may arrive soon. */
const minAgeMs = 2_000;
/** Least part of the memory of all bodies that one search for slow bodies frees. */
const freedPart = 1 / 16;

/**
 * Bounds the request bodies in memory: all of this process, the part of each caller, and that of each group, which is half
 * of what other groups leave. If a group has no room, slow bodies and those of waiting polls are cut. They are cut in the largest
 * group, if the sender's group would hold at most half as much; otherwise among callers of the same group who hold twice
 * as much as the sender would. So nobody can block others with bodies that stay. The budget has room for the largest body,
 * because a smaller budget would always refuse it.
 */
export function createBodyBudget(
  limits: { total: number; perCaller: number; largest: number },
  now: () => number = () => performance.now(),
): BodyBudget {
  const perCaller = Math.max(limits.perCaller, limits.largest);
  const total = Math.max(limits.total, 2 * perCaller);
  const shares = createMemoryShares<Body>(total);
  const bytesOf = ({ caller }: Pick<Sender, 'caller'>): number => shares.ofCaller(caller);

  /** Cuts slow bodies of callers who hold at least `ofCaller`, those who hold most first, until enough memory is free. */
  function cutSlowest(group: string, ofCaller: number, neededBytes: number): void {
    const at = now();
    const slow = shares
      .itemsOf(group)
      .filter((body) => bytesOf(body) >= ofCaller && at - body.since >= minAgeMs && body.arrival.mayBeCut)
      .map((body) => ({ body, ofCaller: bytesOf(body), speed: body.bytes / (at - body.since) }))
      .sort((a, b) => b.ofCaller - a.ofCaller || a.speed - b.speed);
    const enough = shares.heldBytes - Math.max(neededBytes, total * freedPart);
    for (const { body } of slow) {
      if (shares.heldBytes <= enough) return;
      if (bytesOf(body) < ofCaller) continue;
      body.arrival.cut();
      body.release();
    }
  }

  function makeRoom({ group, caller }: Sender, bytes: number): void {
    const toCut = shares.toCut(group, bytes);
    if (!toCut) return;
    cutSlowest(toCut.group, toCut.isOwn ? 2 * (bytesOf({ caller }) + bytes) : 0, toCut.neededBytes);
    if (shares.roomFor(group, bytes) < 0) throw unavailable();
  }

  return {
    open(sender, arrival) {
      let holders = 1;
      let isOver = false;
      const body: Body = {
        ...{ caller: sender.caller, arrival, bytes: 0, since: 0 },
        release() {
          isOver = true;
          if (body.bytes > 0) shares.add(sender, body, -body.bytes);
        },
      };
      return {
        grow(bytes) {
          // A request that has ended holds no memory, even if more data arrives.
          if (isOver) throw unavailable();
          if (bytesOf(sender) + bytes > perCaller)
            throw new ChatError('RATE_LIMIT_HIT', 'Too much data is being sent at a time', { 'retry-after': 1 });
          makeRoom(sender, bytes);
          if (body.bytes === 0) body.since = now();
          shares.add(sender, body, bytes);
        },
        retain() {
          holders++;
        },
        release() {
          holders--;
          if (holders === 0) body.release();
        },
      };
    },
    get held() {
      return shares.heldBytes;
    },
  };
}
