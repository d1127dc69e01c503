const slotMs = 5_000;
const slots = 12;

export interface RequestRate {
  count(): void;
  /** Per second, over the last minute; over the time since the start if that is shorter. */
  perSecond(): number;
}

/** A rate that the process computes, so that it does not depend on the times at which it is read. */
export function createRequestRate(now: () => number = () => performance.now()): RequestRate {
  const startedAt = now();
  const counts = new Map<number, number>();
  const slotOf = (at: number): number => Math.floor(at / slotMs);
  const forgetOld = (): void => {
    for (const slot of counts.keys()) if (slot <= slotOf(now()) - slots) counts.delete(slot);
  };
  return {
    count: () => {
      const slot = slotOf(now());
      if (!counts.has(slot)) forgetOld();
      counts.set(slot, (counts.get(slot) ?? 0) + 1);
    },
    perSecond: () => {
      forgetOld();
      const since = Math.max(startedAt, (slotOf(now()) - slots + 1) * slotMs);
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      return total / Math.max(1, (now() - since) / 1_000);
    },
  };
}
