import { ChatError, unavailable } from '@natter/contracts';
import { currentDeadline, FairQueue } from '@natter/service-kit';
import { Threshold, Usage } from './usage.ts';

/** For whom a request is: a person of a realm, or 0 for everybody without an account. */
export interface Tenant {
  realmId: number;
  userId: number;
}

/**
 * Decides when requests go on to the services. While the system keeps up, at once. When it does not, the number of requests in flight
 * is lowered, and the realm and the person who used least lately go first. A realm that slows down others, which use less than half
 * their share, gets fewer requests in flight than it asks for.
 */
export interface FairShare {
  /** Rejects with SERVICE_UNAVAILABLE where `work` could not start within its deadline, or too much waits already. */
  run<R>(tenant: Tenant, work: () => Promise<R>): Promise<R>;
  readonly inFlight: number;
  readonly waiting: number;
}

interface Entry {
  since: number;
  start: () => void;
  isGone: boolean;
}

interface Realm {
  usage: Usage;
  inFlight: number;
  /** Requests that may be in flight. */
  cap: number;
  /** Of people who used less than half of what others did, and of all others. */
  ahead: FairQueue<Entry>;
  behind: FairQueue<Entry>;
  waiting: number;
  people: Map<number, Usage>;
  /** Since when every request has waited long. */
  standingSince: number | undefined;
}

const tickMs = 100;
const maxWaiting = 10_000;
const [minLimit, maxLimit] = [16, 1_024];
/** What a realm always has: one that asks little at a time is never held back. */
const minCap = 3;
/** Lag above which too much is in flight in the whole system, and above which a realm slows down others. */
const [overloadLagMs, quietLagMs] = [40, 1.5];
/** Where requests have waited longer than this for some time, new ones are refused: a queue that never empties helps nobody. */
const [standingWaitMs, standingForMs] = [500, 2_000];

/** `lagMs`: how long messages wait in the event loops of the system. */
export function createFairShare(lagMs: () => number, now: () => number = () => performance.now()): FairShare {
  const realms = new Map<number, Realm>();
  const overload = new Threshold(overloadLagMs);
  let limit = maxLimit;
  let inFlight = 0;
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;

  return {
    async run({ realmId, userId }, work) {
      const realm = realmOf(realmId);
      const usage = usageOf(realm, userId);
      await admitted(realm, userId, usage);
      const began = now();
      try {
        return await work();
      } finally {
        inFlight--;
        realm.inFlight--;
        realm.usage.add(now() - began);
        usage.add(now() - began);
        startNext();
      }
    },
    get inFlight() {
      return inFlight;
    },
    get waiting() {
      return waiting;
    },
  };

  function realmOf(id: number): Realm {
    const known = realms.get(id);
    if (known) return known;
    const realm: Realm = {
      usage: new Usage(now),
      inFlight: 0,
      cap: maxLimit,
      ahead: new FairQueue(maxWaiting),
      behind: new FairQueue(maxWaiting),
      waiting: 0,
      people: new Map(),
      standingSince: undefined,
    };
    realms.set(id, realm);
    timer ??= setInterval(adjust, tickMs).unref();
    return realm;
  }

  function usageOf(realm: Realm, userId: number): Usage {
    const usage = realm.people.get(userId) ?? new Usage(now);
    realm.people.set(userId, usage);
    return usage;
  }

  async function admitted(realm: Realm, userId: number, usage: Usage): Promise<void> {
    if (realm.waiting === 0 && mayStart(realm)) {
      begin(realm, 0);
      return;
    }
    const isAhead = usage.ms * realm.people.size < realm.usage.ms / 2;
    if (waiting >= maxWaiting || (isStanding(realm) && !isAhead)) throw overloaded();
    await new Promise<void>((resolve, reject) => {
      const entry: Entry = {
        since: now(),
        isGone: false,
        start: () => {
          stop?.();
          resolve();
        },
      };
      const stop = currentDeadline()?.onEnd(() => {
        entry.isGone = true;
        leave(realm);
        reject(unavailable(new Error('the request waited for its turn until its deadline')));
      });
      if (!(isAhead ? realm.ahead : realm.behind).push({ realmId: 0, userId }, entry)) {
        stop?.();
        reject(overloaded());
        return;
      }
      realm.waiting++;
      waiting++;
    });
  }

  function mayStart(realm: Realm): boolean {
    return inFlight < limit && realm.inFlight < realm.cap;
  }

  function begin(realm: Realm, waitedMs: number): void {
    inFlight++;
    realm.inFlight++;
    if (waitedMs < standingWaitMs) realm.standingSince = undefined;
    else realm.standingSince ??= now();
  }

  function leave(realm: Realm): void {
    realm.waiting--;
    waiting--;
  }

  function startNext(): void {
    while (waiting > 0 && inFlight < limit) {
      const realm = leastUsed(realms.values(), (one) => one.waiting > 0 && mayStart(one));
      if (!realm) return;
      const entry = realm.ahead.shift() ?? realm.behind.shift();
      if (!entry || entry.isGone) continue;
      leave(realm);
      begin(realm, now() - entry.since);
      entry.start();
    }
  }

  function isStanding({ standingSince }: Realm): boolean {
    return standingSince !== undefined && now() - standingSince > standingForMs;
  }

  /** Lowers what may be in flight while the system lags, and raises it again while it does not. */
  function adjust(): void {
    const lag = lagMs();
    if (overload.isExceeded(lag, limit <= minLimit, now()))
      limit = Math.max(minLimit, Math.min(limit, inFlight) * 0.85);
    else if (waiting > 0 || inFlight > limit / 2) limit = Math.min(maxLimit, limit * 1.1 + 1);
    const { heavy, light } = sharesOf([...realms.values()]);
    const isDisturbed = lag > quietLagMs && light.length > 0;
    for (const realm of realms.values())
      if (!isDisturbed) realm.cap = Math.min(maxLimit, realm.cap * 1.15 + 0.2);
      else if (heavy.includes(realm)) realm.cap = Math.max(minCap, Math.min(realm.cap, realm.inFlight) * 0.7);
    startNext();
    forget();
  }

  function forget(): void {
    for (const [id, realm] of realms) {
      if (realm.waiting === 0)
        for (const [userId, usage] of realm.people) if (usage.ms < 1) realm.people.delete(userId);
      if (realm.people.size === 0 && realm.inFlight === 0) realms.delete(id);
    }
    if (realms.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }
}

function leastUsed<T extends { usage: Usage }>(all: Iterable<T>, isEligible: (one: T) => boolean): T | undefined {
  let found: T | undefined;
  for (const one of all) if (isEligible(one) && (!found || one.usage.ms < found.usage.ms)) found = one;
  return found;
}

/** Who uses more than an equal share, and who uses less than half of one. */
function sharesOf(realms: readonly Realm[]): { heavy: Realm[]; light: Realm[] } {
  const active = realms.filter(({ usage }) => usage.ms >= 1);
  const equal = active.reduce((sum, { usage }) => sum + usage.ms, 0) / active.length;
  return {
    heavy: active.filter(({ usage }) => usage.ms > equal),
    light: active.filter(({ usage }) => usage.ms < equal / 2),
  };
}

const overloaded = (): ChatError =>
  new ChatError('SERVICE_UNAVAILABLE', 'The server is busy. Try again in a moment.', {}, new Error('overloaded'));
