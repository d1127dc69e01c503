import { RawSocket } from '@natter/testkit';
import { expect, test } from 'vitest';
import { system } from './system.ts';

test('a time for requests below that for headers applies to headers too', async () => {
  const socket = await RawSocket.open(system.url);
  socket.send('GET /api/v1/server_settings HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
  expect((await socket.answer()).status).toBe(408);
  await socket.closed;
});
