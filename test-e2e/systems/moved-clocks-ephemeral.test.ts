import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../api.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { requestOnce } from '../patience.ts';

const tenMinutesMs = 600_000;

let system: System;
let clocks: string;
/** The reported shift of the clock of each process, in milliseconds, by pid. */
const movedMs = new Map<number, number>();
beforeAll(async () => {
  const dataDir = await dataDirectory();
  clocks = join(dataDir, 'clocks.json');
  await writeFile(clocks, '{}');
  system = await openSystem({
    dataDir,
    gateways: 1,
    env: {
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, '..', 'moved-clock.mjs'))}`,
      NATTER_TEST_CLOCK: clocks,
    },
    onLine: (line) => {
      if (!line.includes('"clock moved"')) return;
      const { pid, ms } = JSON.parse(line) as { pid: number; ms: number };
      movedMs.set(pid, ms);
    },
  });
});
afterAll(() => system?.stop());

/** Moves the clocks of the processes of services by milliseconds, and sets all others right. */
async function move(by: Record<string, number>): Promise<void> {
  const moved = system.children.map((child) => [child.pid(), by[child.program] ?? 0] as const);
  await writeFile(`${clocks}.new`, JSON.stringify(Object.fromEntries(moved)));
  await rename(`${clocks}.new`, clocks);
  await expect.poll(() => moved.every(([pid, ms]) => (movedMs.get(pid ?? 0) ?? 0) === ms)).toBe(true);
}

/** Follows a new queue of the owner until it has had an event of each type about a person. */
async function receives(
  types: string[],
  { user_id }: { user_id: number },
  cause: () => Promise<void>,
): Promise<Record<string, Answer>> {
  const { owner } = system.people;
  const { body: queue } = await requestOnce(system.url, owner, 'POST /register', {
    event_types: types,
    fetch_event_types: [],
    client_capabilities: { simplified_presence_events: true },
  });
  await cause();
  const seen: Record<string, Answer> = {};
  for (let last = queue.last_event_id; types.some((type) => !seen[type]); ) {
    const { body } = await requestOnce(system.url, owner, 'GET /events', {
      queue_id: queue.queue_id,
      last_event_id: last,
    });
    for (const event of body.events) {
      last = Math.max(last, event.id);
      if (event.sender?.user_id === user_id || event.presences?.[user_id]) seen[event.type] = event;
    }
  }
  return seen;
}

test.each([
  ['a gateway is ten minutes ahead', 'member', { gateway: tenMinutesMs }],
  ['a gateway is ten minutes behind', 'member2', { gateway: -tenMinutesMs }],
  [
    'the senders are ten minutes behind event-queue',
    'moderator',
    { messaging: -tenMinutesMs, presence: -tenMinutesMs },
  ],
  ['event-queue is ten minutes ahead', 'administrator', { 'event-queue': tenMinutesMs }],
] as const)('typing and presence arrive while the clock of %s', async (_, name, moved) => {
  await move(moved);
  const person = system.people[name];
  const { owner } = system.people;
  const seen = await receives(['typing', 'presence'], person, async () => {
    const typing = await requestOnce(system.url, person, 'POST /typing', { op: 'start', to: [owner.user_id] });
    const posted = await requestOnce(system.url, person, 'POST /users/me/presence', { status: 'active' });
    expect([typing.status, posted.status]).toEqual([200, 200]);
  });
  expect(seen.typing?.sender.user_id).toBe(person.user_id);
  const { active_timestamp } = seen.presence?.presences[person.user_id] ?? {};
  // Compared with the clock of this process, which was not moved.
  expect(Math.abs(active_timestamp - Date.now() / 1_000)).toBeLessThan(tenMinutesMs / 2_000);
});

test('a presence that was posted while a clock was ahead does not hide later ones', async () => {
  const { member, owner } = system.people;
  await move({ presence: tenMinutesMs });
  await requestOnce(system.url, member, 'POST /users/me/presence', { status: 'active' });
  await move({});
  // Repeated, because a process may use its moved clock later on a busy machine.
  const aheadSeconds = async (): Promise<number> => {
    await requestOnce(system.url, member, 'POST /users/me/presence', { status: 'active' });
    const { body } = await requestOnce(system.url, owner, `GET /users/${member.user_id}/presence`);
    expect(body.presence.aggregated).toMatchObject({ status: 'active' });
    return body.presence.aggregated.timestamp - Date.now() / 1_000;
  };
  await expect.poll(aheadSeconds).toBeLessThan(tenMinutesMs / 2_000);
});
