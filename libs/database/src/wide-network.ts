/**
 * An IPv4 address, or the /48 of an IPv6 /64 such as `2001:db8:7:8::/64`. A host often chooses among the 65,536 /64
 * networks of a /48.
 */
export const wideNetwork = (network: string): string =>
  network.includes(':') ? network.split(':').slice(0, 3).join(':') : network;
