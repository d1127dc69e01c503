import { expect, test } from 'vitest';
import { networkOf, trustedProxies } from './network.ts';

test('addresses of one IPv6 /64 network count as one', () => {
  expect(networkOf('192.0.2.7')).toBe('192.0.2.7');
  expect(networkOf('::ffff:192.0.2.7')).toBe('192.0.2.7');
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
  expect(networkOf('2001:0db8:1:2::1')).toBe('2001:db8:1:2::/64');
  expect(networkOf('2001:db8::1')).toBe('2001:db8:0:0::/64');
  expect(networkOf('::1')).toBe('0:0:0:0::/64');
  expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
  expect(networkOf('')).toBe('');
});

test('trusted proxies are addresses and networks', () => {
  const proxies = trustedProxies('127.0.0.1, 10.0.0.0/8,2001:db8::/32');
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '10.9.8.7', '2001:db8:9::1'])
    expect([address, proxies.has(address)]).toEqual([address, true]);
  for (const address of ['127.0.0.2', '11.0.0.1', '2001:db9::1', '', 'x'])
    expect([address, proxies.has(address)]).toEqual([address, false]);
  expect(() => trustedProxies('proxy.example')).toThrow('proxy.example');
});
