import type { Msg, NatsConnection } from '@nats-io/nats-core';
import { expect, test } from 'vitest';
import { subscribe } from './subscribe.ts';

test('an error of a callback is logged and does not reach the NATS client', () => {
  const callbacks: ((error: Error | null, message: Msg) => void)[] = [];
  const nats = {
    subscribe: (_: string, options: { callback: (typeof callbacks)[number] }) => callbacks.push(options.callback),
  };
  const logged: unknown[] = [];
  subscribe(nats as unknown as NatsConnection, 'a.*', { error: (fields: unknown) => logged.push(fields) }, () => {
    throw new Error('max_payload size exceeded');
  });
  callbacks[0]?.(null, { subject: 'a.b' } as Msg);
  expect(logged).toEqual([{ err: new Error('max_payload size exceeded'), subject: 'a.b' }]);
});
