import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomOf } from '../kills.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { requestOnce } from '../patience.ts';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.ROUNDS ?? 2);
const burst = 60;
/** Usually enough time to schedule a burst. On a machine that needs more, the rest of the burst is due later. */
const aheadSeconds = 8;
const fiveMinutesMs = 300_000;
/** On a busy machine messages are late, but not by five minutes. */
const maxLatenessSeconds = 150;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let system: System;
let clocks: string;
let moves = 0;
beforeAll(async () => {
  const dataDir = await dataDirectory();
  clocks = join(dataDir, 'clocks.json');
  await writeFile(clocks, '{}');
  system = await openSystem({
    dataDir,
    replicas: { scheduler: 2 },
    env: {
      // Messages later than this by the database's clock fail; by a moved clock all would.
      NATTER_SCHEDULED_MAX_LATENESS_SECONDS: String(maxLatenessSeconds),
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, '..', 'moved-clock.mjs'))}`,
      NATTER_TEST_CLOCK: clocks,
    },
    onLine: (line) => {
      if (line.includes('"clock moved"')) moves++;
    },
  });
});
afterAll(() => system?.stop());

/** Sets each scheduler's clock five minutes ahead, five minutes behind, or right. */
async function moveClocks(random: () => number): Promise<number[]> {
  const pids = system.children.filter(({ program }) => program === 'scheduler').map((child) => child.pid());
  const moved = pids.map(() => (Math.floor(random() * 3) - 1) * fiveMinutesMs);
  await writeFile(`${clocks}.new`, JSON.stringify(Object.fromEntries(pids.map((pid, index) => [pid, moved[index]]))));
  await rename(`${clocks}.new`, clocks);
  return moved;
}

describe(`schedulers whose clocks are moved by five minutes (${rounds} rounds, seed ${seed})`, () => {
  test('send each message exactly once, without failures, and neither early nor much too late', async () => {
    const random = randomOf(seed);
    const { member, owner } = system.people;
    const due = new Map<string, number>();
    const seen = new Map<string, number[]>();
    const queue = (await requestOnce(system.url, owner, 'POST /register', { event_types: ['message'] })).body;
    const schedule = async (content: string, at: number): Promise<void> => {
      due.set(content, at * 1000);
      const form = { type: 'direct', to: [owner.user_id], content, scheduled_delivery_timestamp: at };
      const { status, body } = await requestOnce(system.url, member, 'POST /scheduled_messages', form);
      if (status === 400 && at <= Date.now() / 1000)
        return schedule(content, Math.floor(Date.now() / 1000) + aheadSeconds);
      expect([status, body.msg]).toEqual([200, '']);
    };
    let isOver = false;
    const following = (async () => {
      for (let last = queue.last_event_id; !isOver; await pause(50)) {
        const form = { queue_id: queue.queue_id, last_event_id: last, dont_block: true };
        for (const event of (await requestOnce(system.url, owner, 'GET /events', form)).body.events) {
          last = Math.max(last, event.id);
          const content = event.type === 'message' ? event.message.content : '';
          if (due.has(content)) seen.set(content, [...(seen.get(content) ?? []), Date.now()]);
        }
      }
    })();
    following.catch(() => undefined);
    const waiting: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const now = Math.floor(Date.now() / 1000);
      await Promise.all(
        Array.from({ length: burst }, (_, index) => schedule(`${round}-${index}`, now + aheadSeconds + (index % 4))),
      );
      for (let move = 0; move < 14; move++) {
        await moveClocks(random);
        waiting.push(due.size - seen.size);
        await pause(300 + random() * 1_000);
      }
    }
    for (const end = Date.now() + maxLatenessSeconds * 1_000; seen.size < due.size && Date.now() < end; )
      await pause(200);
    // A duplicate would arrive in this time.
    await pause(2_000);
    isOver = true;
    await following;
    const { scheduled_messages: left } = (await requestOnce(system.url, member, 'GET /scheduled_messages')).body;
    expect(left).toEqual([]);
    expect(seen.size).toBe(due.size);
    expect([...seen.values()].filter((times) => times.length !== 1)).toEqual([]);
    const lateness = [...seen].map(([content, [at = 0]]) => at - (due.get(content) ?? 0));
    console.log(
      `${due.size} messages, waiting at each move: ${waiting.join(' ')}, latest by ${Math.max(...lateness)} ms`,
    );
    expect(moves).toBeGreaterThan(0);
    expect(Math.max(...waiting)).toBeGreaterThan(0);
    expect(Math.min(...lateness)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...lateness)).toBeLessThan(maxLatenessSeconds * 1_000);
  });
});
