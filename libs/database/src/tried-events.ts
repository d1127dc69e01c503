/** How the next transaction of a consumer has to take the events of a realm. */
interface Caution {
  /** Maximum number of events. */
  limit: number;
  /** The first event, if it is to be parked because processes ended while they handled it. */
  deadly: number | undefined;
}

export interface TriedEvents {
  /** Counts in the record that this process begins with the realm's first waiting event, unless the realm is known to be safe. */
  begin(realmId: number): Promise<Caution>;
  /** A transaction with events of the realm was committed. */
  succeeded(realmId: number): void;
}

/** After this many processes that began with an event and did not handle it, events are taken one by one. */
const triesBeforeAlone = 3;
/** And after this many, it is parked. */
const triesBeforeParked = 8;

/**
 * An event that ends its process, by endless computation or too much memory, would end every process that handles it, and
 * with them the service for all realms. So each process stores, before its first transaction in a realm, with which event
 * it begins. The event may be any of the transaction: after some tries, events are taken and counted one by one, as many
 * as one transaction takes.
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
