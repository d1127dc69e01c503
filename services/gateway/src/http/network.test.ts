import { expect, test } from 'vitest';
import { networkOf, trustedProxies } from './network.ts';

test('all spellings of the addresses of one host belong to one network', () => {
  const networks: [string, string][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['not an address', 'unknown'],
    ['', 'unknown'],
  ];
  expect(networkOf(undefined)).toBe('unknown');
  for (const [address, network] of networks) expect([address, networkOf(address)]).toEqual([address, network]);
});

test('trusted proxies can be given as addresses and networks', () => {
  const proxies = trustedProxies('127.0.0.1, 10.0.0.0/8,2001:db8::/32');
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '10.9.8.7', '2001:db8:9::1'])
    expect([address, proxies.has(address)]).toEqual([address, true]);
  for (const address of ['127.0.0.2', '11.0.0.1', '2001:db9::1', '', 'x'])
    expect([address, proxies.has(address)]).toEqual([address, false]);
  expect(() => trustedProxies('proxy.example')).toThrow('proxy.example');
});
