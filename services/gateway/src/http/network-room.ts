import { wideNetwork } from '@natter/service-kit';

/** Limits the connections of each network. */
export interface NetworkRoom {
  /** Counts a connection until the returned function is called; undefined if its network has too many. */
  enter(network: string): (() => void) | undefined;
}

/**
 * `most.network`: for an IPv4 address or an IPv6 /64. `most.wide`: for an IPv6 /48, because a host often chooses among
 * its /64 networks; at least as many as for one of these.
 */
export function createNetworkRoom(most: { network: number; wide: number }): NetworkRoom {
  const counts = new Map<string, number>();
  const ofWide = Math.max(most.network, most.wide);
  const add = (key: string, by: 1 | -1): void => {
    const count = (counts.get(key) ?? 0) + by;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  };
  return {
    enter(network) {
      const wide = `wide ${wideNetwork(network)}`;
      if ((counts.get(network) ?? 0) >= most.network || (counts.get(wide) ?? 0) >= ofWide) return undefined;
      for (const key of [network, wide]) add(key, 1);
      return () => {
        for (const key of [network, wide]) add(key, -1);
      };
    },
  };
}
