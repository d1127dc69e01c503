import type { LogEntry, RequestMeta } from '@natter/contracts';
import type { LogRedis, Verifier } from '@natter/event-log';
import { apartFromRequest, type Bus, type Logger, untilDeadline } from '@natter/service-kit';
import { type RealmTail, startTail } from './realm-tail.ts';

export interface RealmTails {
  /** The realm's tail; started if there is none. */
  get(meta: RequestMeta): Promise<RealmTail>;
  /** Follows the realm's log for a while from now on. */
  follow(meta: RequestMeta): void;
  /** Whether this gateway has read the realm's log up to a moment ago. */
  isCurrent(realmId: number): boolean;
  /** Memory of all logs. */
  readonly bytes: number;
  stop(): Promise<void>;
}

interface Started {
  starting: Promise<RealmTail>;
  /** Absent until it has started. */
  tail?: RealmTail;
  usedAt: number;
}

const currentMs = 60_000;
/** Restarting a tail costs one request; following an unused realm costs three reads in ten seconds. */
const idleMs = 60_000;

/** One tail per realm in use here; together they are limited to `maxBytes`, and the largest is shrunk first. */
export function createRealmTails(options: {
  bus: Bus;
  log: LogRedis;
  verifier: Verifier;
  logger: Logger;
  maxBytes: number;
  onEntry: (realmId: number, entry: LogEntry) => void;
  onSkip: (realmId: number) => void;
}): RealmTails {
  const { maxBytes, onEntry, onSkip, ...rest } = options;
  const tails = new Map<number, Started>();
  const sweeper = setInterval(stopIdle, 15_000);
  sweeper.unref();

  const running = (): RealmTail[] => [...tails.values()].flatMap(({ tail }) => (tail ? [tail] : []));
  const total = (): number => running().reduce((sum, tail) => sum + tail.bytes, 0);

  function keepToBudget(): void {
    for (let bytes = total(); bytes > maxBytes; bytes = total()) {
      const biggest = running().reduce((a, b) => (b.bytes > a.bytes ? b : a));
      if (biggest.bytes === 0) return;
      biggest.shrinkTo(biggest.bytes * 0.75 - 1);
    }
  }

  function stopIdle(): void {
    for (const [realmId, { tail, usedAt }] of tails)
      if (tail && !tail.hasListeners && performance.now() - usedAt > idleMs) {
        tail.stop();
        tails.delete(realmId);
      }
  }

  /** All requests of the realm wait for the start: it belongs to none of them. */
  function started(meta: RequestMeta): Started {
    const { realmId } = meta;
    const known = tails.get(realmId);
    if (known) {
      known.usedAt = performance.now();
      return known;
    }
    const starting = apartFromRequest(() =>
      startTail({
        ...rest,
        realmId,
        meta,
        onEntry: (entry) => onEntry(realmId, entry),
        onSkip: () => onSkip(realmId),
        onBytes: keepToBudget,
      }),
    );
    const made: Started = { starting, usedAt: performance.now() };
    tails.set(realmId, made);
    starting.then(
      (tail) => {
        made.tail = tail;
      },
      () => tails.delete(realmId),
    );
    return made;
  }

  return {
    get: (meta) => untilDeadline(started(meta).starting),
    follow: (meta) => void started(meta),
    isCurrent(realmId) {
      const tail = tails.get(realmId)?.tail;
      return tail !== undefined && performance.now() - tail.currentAt < currentMs;
    },
    get bytes() {
      return total();
    },
    async stop() {
      clearInterval(sweeper);
      for (const { starting } of tails.values())
        await starting.then(
          (tail) => tail.stop(),
          () => undefined,
        );
    },
  };
}
