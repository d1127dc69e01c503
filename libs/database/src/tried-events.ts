/** Limits for the next transaction of a consumer with events of a realm. */
interface Caution {
  /** Maximum number of events. */
  limit: number;
  /** The first event, if it is to be parked because processes ended while they handled it. */
  deadly: number | undefined;
}

export interface TriedEvents {
  /** Counts in Postgres that this process tries the realm's first waiting event, unless it handled events of the realm before. */
  begin(realmId: number): Promise<Caution>;
  /** Call it when a transaction with events of the realm was committed. */
  succeeded(realmId: number): void;
}

/** If this many processes tried an event and did not handle it, events are handled one by one. */
const triesBeforeAlone = 3;
/** If this many processes tried an event and did not handle it, it is parked. */
const triesBeforeParked = 8;

/**
 * If the handling of an event ends the process, by endless computation or too much memory, the event would end all processes
 * of the service one after the other, for all realms. So before its first transaction in a realm, each process stores with
 * which event it begins. Any event of the transaction may be the cause. So after some tries, as many events as a transaction
 * has are handled and counted one by one.
 */
export function createTriedEvents(
  batchSize: number,
  count: (realmId: number) => Promise<{ number: number; tries: number } | undefined>,
): TriedEvents {
  /** How many events are still taken one by one; 0: the realm is safe. */
  const left = new Map<number, number>();
  return {
    async begin(realmId) {
      if (left.get(realmId) === 0) return { limit: batchSize, deadly: undefined };
      const tried = await count(realmId);
      const tries = tried?.tries ?? 0;
      if (tries > triesBeforeAlone && !left.has(realmId)) left.set(realmId, batchSize);
      return {
        limit: left.has(realmId) ? 1 : batchSize,
        deadly: tries > triesBeforeParked ? tried?.number : undefined,
      };
    },
    succeeded: (realmId) => void left.set(realmId, Math.max(0, (left.get(realmId) ?? 0) - 1)),
  };
}
