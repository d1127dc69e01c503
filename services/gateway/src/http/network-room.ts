import { Counts, wideNetwork } from '@natter/service-kit';

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
  const counts = new Counts<string>();
  const ofWide = Math.max(most.network, most.wide);
  return {
    enter(network) {
      const wide = `wide ${wideNetwork(network)}`;
      if (counts.of(network) >= most.network || counts.of(wide) >= ofWide) return undefined;
      for (const key of [network, wide]) counts.add(key);
      return () => {
        for (const key of [network, wide]) counts.add(key, -1);
      };
    },
  };
}
