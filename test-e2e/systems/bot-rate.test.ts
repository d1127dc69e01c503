import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Credentials, request } from '../api.ts';
import { createBot } from '../create-bot.ts';
import { openSystem } from '../open-system.ts';

const userLimit = 120;
/** All bots of one owner together may send as many requests as five users. */
const botsLimit = 5 * userLimit;
/** An answer names the rest of its window in whole seconds, and may arrive late: the window ends earlier by less than this. */
const inexactMs = 5_000;
let system: System;
beforeAll(async () => {
  system = await openSystem({ env: { NATTER_RATE_LIMIT: String(userLimit) }, gateways: 1 });
});
afterAll(() => system?.stop());

test('the bots of one owner share a limit, separate from other users and their bots', async () => {
  const { member, administrator } = system.people;
  const bots: Credentials[] = [];
  for (let count = 0; count < 6; count++) bots.push(await createBot(system.url, member, `swarm${count}`));
  const other = await createBot(system.url, administrator, 'lonely');

  const begunAt = Date.now();
  /** When a window of the limit ends. All of its windows end a minute apart. */
  let windowEndsAt = 0;
  const send = async (bot: Credentials): Promise<number[]> => {
    const statuses: number[] = [];
    for (let count = 0; count < userLimit; count++) {
      const { status, body } = await request(system.url, bot, 'GET /users/me/alert_words');
      if (status === 429) windowEndsAt = Date.now() + body['retry-after'] * 1_000;
      statuses.push(status);
    }
    return statuses;
  };
  const statuses = (await Promise.all(bots.map(send))).flat();
  const windowOf = (ms: number): number => Math.floor((ms - windowEndsAt) / 60_000);
  // If nothing was refused, a window ended meanwhile.
  const windows = windowEndsAt === 0 ? 2 : windowOf(Date.now() + inexactMs) - windowOf(begunAt) + 1;
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  const served = statuses.filter((status) => status === 200).length;
  expect(served).toBeGreaterThanOrEqual(userLimit);
  expect(served).toBeLessThanOrEqual(windows * botsLimit);
  for (const who of [member, administrator, other])
    expect((await request(system.url, who, 'GET /users/me/alert_words')).status).toBe(200);
});
