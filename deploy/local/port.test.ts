import { expect, test } from 'vitest';
import { freePort } from './port.ts';
import { openSharedPort } from './shared-port.ts';

test('a port that was chosen is not chosen again, although nothing listens there yet', async () => {
  const shared = await openSharedPort('127.0.0.1', await freePort());
  const ports = [shared.port];
  for (let count = 0; count < 400; count++) ports.push(await freePort());
  shared.close();
  expect(new Set(ports).size).toBe(ports.length);
});
