import { BlockList, isIP } from 'node:net';
import type { ReachRules } from './guarded-request.ts';
import { askAlsoSystem, askNameServers } from './resolve-name.ts';

/** IPv4 networks that are not part of the public internet: the IANA special-purpose registry, multicast, reserved ranges. */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** In IPv6 only global unicast is public, except networks that embed IPv4 addresses or are for documentation. */
const GLOBAL_IPV6 = ['2000::/3'];
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Networks in CIDR notation, or single addresses. Throws for anything else. */
export function networksOf(list: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const network of list) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address);
    if (family === 0) throw new Error(`not an address or a network in CIDR notation: ${network}`);
    networks.addSubnet(address, Number(bits ?? (family === 4 ? 32 : 128)), family === 4 ? 'ipv4' : 'ipv6');
  }
  return networks;
}

const special4 = networksOf(SPECIAL_IPV4);
const global6 = networksOf(GLOBAL_IPV6);
const special6 = networksOf(SPECIAL_IPV6);

/**
 * The rules for content of other sites: it may be fetched from public addresses, and from those in these networks, by
 * commas. Names that only the machine knows are of internal addresses, so they are looked up only if there are networks.
 */
export function reachable(networks: string): ReachRules {
  const list = networks.split(',').filter(Boolean);
  const allowed = networksOf(list);
  return {
    mayReach: (address) => isPublicAddress(address) || allowed.check(address, address.includes(':') ? 'ipv6' : 'ipv4'),
    resolve: list.length === 0 ? askNameServers() : askAlsoSystem(),
  };
}

/** IPv4-mapped IPv6 addresses (`::ffff:10.0.0.1`) are never public. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special4.check(address, 'ipv4');
  return family === 6 && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}
