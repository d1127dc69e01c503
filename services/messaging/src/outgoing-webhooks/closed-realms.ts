interface OfRealm {
  realm_id: number;
  count: number;
}

/**
 * Deactivated realms with messages that are due. One delivery at a time, after a pause, shows whether the realm is still
 * deactivated; the others wait for it.
 */
export function createClosedRealms(pauseMs: number) {
  const nextAt = new Map<number, number>();
  const pause = (realmId: number): void => void nextAt.set(realmId, performance.now() + pauseMs);

  return {
    /** Realms in which no delivery begins for now. */
    paused: (): number[] => [...nextAt].flatMap(([realmId, at]) => (at > performance.now() ? [realmId] : [])),
    /** The bots to which messages may be posted: one in a realm whose pause is over, with one message. */
    admitted<Bot extends OfRealm>(due: readonly Bot[]): Bot[] {
      const now = performance.now();
      const realms = Map.groupBy(due, (bot) => bot.realm_id);
      // No message of the realm waits any more.
      for (const [realmId, at] of nextAt) if (at <= now && !realms.has(realmId)) nextAt.delete(realmId);
      return [...realms].flatMap(([realmId, bots]) => {
        const at = nextAt.get(realmId);
        if (at === undefined) return bots;
        return at > now ? [] : bots.slice(0, 1).map((bot) => ({ ...bot, count: 1 }));
      });
    },
    begun(realmId: number): void {
      if (nextAt.has(realmId)) pause(realmId);
    },
    ended(realmId: number, isClosed: boolean): void {
      if (isClosed) pause(realmId);
      else nextAt.delete(realmId);
    },
  };
}
