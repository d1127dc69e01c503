import { expect, test } from 'vitest';
import { isPublicAddress, networksOf } from './public-address.ts';

test.each(['1.1.1.1', '93.184.216.34', '172.15.255.255', '172.32.0.0', '2606:4700:4700::1111', '2a00:1450::1'])(
  '%s is public',
  (address) => expect(isPublicAddress(address)).toBe(true),
);

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:10.0.0.1',
  '::ffff:1.1.1.1',
  '64:ff9b::a00:1',
  'fc00::1',
  'fd12::1',
  'fe80::1',
  'ff02::1',
  '2001::1',
  '2001:db8::1',
  '2002:a00:1::1',
  'localhost',
  '',
])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));

test('networks are given as addresses or in CIDR notation', () => {
  const networks = networksOf(['10.0.0.0/8', '::1']);
  expect([networks.check('10.2.3.4'), networks.check('11.0.0.1'), networks.check('::1', 'ipv6')]).toEqual([
    true,
    false,
    true,
  ]);
  expect(() => networksOf(['example.com'])).toThrow('not an address');
});
