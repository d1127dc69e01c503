import { expect, test } from 'vitest';
import { FairQueue, tenantWithoutAccount } from './fair-queue.ts';

const queueOf = (maxSize: number) => {
  const queue = new FairQueue<string>(maxSize);
  return { queue, push: (realmId: number, userId: number, item: string) => queue.push({ realmId, userId }, item) };
};

test('the queue skips realms that may not have a turn', () => {
  const { queue, push } = queueOf(9);
  push(1, 1, 'a');
  push(2, 2, 'b');
  expect(queue.shift((realmId) => realmId !== 1)).toBe('b');
  expect(queue.shift((realmId) => realmId !== 1)).toBeUndefined();
  expect(queue.shift()).toBe('a');
});

test('the queue takes turns between realms and between the users of a realm', () => {
  const { queue, push } = queueOf(20);
  for (const item of ['a1', 'a2', 'a3']) push(1, 1, item);
  push(1, 2, 'b1');
  for (const item of ['c1', 'c2', 'c3']) push(2, 3, item);
  const taken = Array.from({ length: 8 }, () => queue.shift());
  expect(taken).toEqual(['a1', 'c1', 'b1', 'c2', 'a2', 'c3', 'a3', undefined]);
  expect(queue.size).toBe(0);
});

test('a realm that fills its part of the queue leaves room for other realms', () => {
  const { queue, push } = queueOf(8);
  // From many users of one realm.
  const pushed = Array.from({ length: 20 }, (_, user) => push(1, user, 'x') !== undefined).filter(Boolean);
  expect(pushed).toHaveLength(4);
  expect(push(2, 1, 'y')).toBeDefined();
  expect(push(3, 1, 'z')).toBeDefined();
  expect(queue.size).toBe(6);
});

test('an item that is taken out frees its room only once', () => {
  const { queue, push } = queueOf(4);
  const [first, second] = [push(1, 1, 'a'), push(1, 1, 'a')];
  expect(push(1, 1, 'a')).toBeUndefined();
  first?.();
  first?.();
  expect([queue.size, queue.sizeOf(1)]).toEqual([1, 1]);
  expect(queue.shift()).toBe('a');
  second?.();
  expect([queue.size, queue.sizeOf(1)]).toEqual([0, 0]);
  push(1, 1, 'b');
  second?.();
  expect(queue.shift()).toBe('b');
});

test('the networks of an IPv6 /48 take turns as one, and others do not', () => {
  const turnOf = (network: string): number => tenantWithoutAccount(network).userId;
  expect(turnOf('2001:db8:7:8::/64')).toBe(turnOf('2001:db8:7:9::/64'));
  expect(turnOf('2001:db8:7:8::/64')).not.toBe(turnOf('2001:db8:6:8::/64'));
  expect(turnOf('192.0.2.1')).not.toBe(turnOf('192.0.2.2'));
});
