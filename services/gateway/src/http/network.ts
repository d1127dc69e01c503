import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * The network of a client: an IPv4 address, or the /64 of an IPv6 address, because a host chooses the remaining bits
 * itself. An IPv4-mapped IPv6 address counts as the IPv4 address. A connection that is closed has no address.
 */
export function networkOf(address: string | undefined): string {
  if (address !== undefined && isIPv4(address)) return address;
  const [plain = ''] = (address ?? '').split('%');
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return 'unknown';
  const groups = groupsOf(plain);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight 16-bit groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // A URL normalizes it to a form without an IPv4 part.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const numbers = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return numbers(head);
  const [before, after] = [numbers(head), numbers(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

export interface Proxies {
  has(address: string): boolean;
}

/** Addresses and CIDRs, separated by commas. Throws if one is invalid. */
export function trustedProxies(setting: string): Proxies {
  const list = new BlockList();
  for (const entry of setting.split(',').map((text) => text.trim())) {
    if (entry === '') continue;
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
    if (!family) throw new Error(`NATTER_TRUSTED_PROXIES: ${entry} is neither an address nor a CIDR`);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return {
    has(address) {
      const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
      if (isIPv4(plain)) return list.check(plain, 'ipv4');
      return isIPv6(plain) && list.check(plain, 'ipv6');
    },
  };
}
