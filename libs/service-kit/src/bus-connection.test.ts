import type { NatsConnection } from '@nats-io/nats-core';
import { expect, test } from 'vitest';
import { flushed } from './bus-connection.ts';

const natsThat = (flush: () => Promise<void>, isClosed = false): NatsConnection =>
  ({ flush, isClosed: () => isClosed }) as unknown as NatsConnection;

test('a flush that a disconnect interrupted is done after the reconnect', async () => {
  let asked = 0;
  const nats = natsThat(async () => {
    if (++asked < 3) throw new Error('connection disconnected');
  });
  await flushed(nats, 5_000);
  expect(asked).toBe(3);
});

test('a flush of a closed connection fails as unavailable', async () => {
  const nats = natsThat(async () => {
    throw new Error('closed connection');
  }, true);
  await expect(flushed(nats, 5_000)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});
