import { expect, test } from 'vitest';
import { createRegisterRoom } from './register-room.ts';

test('one network may use a quarter of the registers of spectators', async () => {
  const room = createRegisterRoom();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const register = (network: string, realmId = 1) => room.within({ realmId, network }, () => held);
  const running = [register('192.0.2.1'), register('192.0.2.1')];
  await expect(register('192.0.2.1')).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
  // A host chooses among the networks of a /48 itself.
  running.push(register('2001:db8:7:1::/64'), register('2001:db8:7:2::/64'));
  await expect(register('2001:db8:7:3::/64')).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
  running.push(register('192.0.2.1', 2), register('192.0.2.2'), register('192.0.2.2'));
  running.push(register('192.0.2.3'), register('192.0.2.3'));
  await expect(register('192.0.2.4')).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
  // Users have registers of their own.
  running.push(room.within({ realmId: 1, userId: 7 }, () => held));
  release();
  await Promise.all(running);
  await register('192.0.2.1');
});

test('a user may run eight registers at once, and a failed register frees its place', async () => {
  const room = createRegisterRoom();
  const { promise: held, reject } = Promise.withResolvers<void>();
  const register = (work = () => held) => room.within({ realmId: 1, userId: 7 }, work);
  const running = Array.from({ length: 8 }, () => register());
  await expect(register()).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
  reject(new Error('failed'));
  await Promise.allSettled(running);
  await register(async () => undefined);
});
