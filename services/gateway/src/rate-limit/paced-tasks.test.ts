import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PacedTasks } from './paced-tasks.ts';

let tasks: PacedTasks;
beforeEach(() => {
  vi.useFakeTimers();
  tasks = new PacedTasks(() => Date.now());
});
afterEach(() => vi.useRealTimers());

const seen = { begun: 0, refused: 0 };
const send = (userId: number): void =>
  void tasks.wait({ realmId: 1, userId }, () => void seen.begun++).catch(() => seen.refused++);

/** Sends by these users, of whom each has sent `each` before; one task begins every `everyMs`. */
async function wait(users: number, { each, ms, everyMs }: { each: number; ms: number; everyMs: number }) {
  seen.begun = seen.refused = 0;
  for (let nth = 0; nth < each; nth++) for (let user = 1; user <= users; user++) send(user);
  for (let passed = 0; passed < ms; passed += everyMs) {
    await vi.advanceTimersByTimeAsync(everyMs);
    tasks.startNext(() => true);
  }
}

test('several requests of many users may wait while the pace is unknown', async () => {
  await wait(64, { each: 6, ms: 500, everyMs: 100 });
  expect(seen.refused).toBe(0);
});

test('a user whose requests would wait for more than five seconds is refused at once', async () => {
  await wait(64, { each: 2, ms: 2_000, everyMs: 100 });
  expect(tasks.refuses({ realmId: 1, userId: 64 })).toBe(true);
  send(64);
  await vi.advanceTimersByTimeAsync(0);
  expect(seen.refused).toBe(1);
});

test('a user without a waiting request is not refused because of others', async () => {
  await wait(64, { each: 2, ms: 2_000, everyMs: 100 });
  expect(tasks.refuses({ realmId: 1, userId: 65 })).toBe(false);
});

test('few requests wait, however slowly they begin', async () => {
  await wait(4, { each: 8, ms: 12_000, everyMs: 4_000 });
  expect(tasks.refuses({ realmId: 1, userId: 4 })).toBe(false);
});

test('requests that begin soon enough are not refused, and neither are those after a pause', async () => {
  await wait(16, { each: 12, ms: 2_000, everyMs: 20 });
  expect(tasks.refuses({ realmId: 1, userId: 8 })).toBe(false);
  while (tasks.startNext(() => true));
  await vi.advanceTimersByTimeAsync(0);
  send(8);
  expect(tasks.refuses({ realmId: 1, userId: 8 })).toBe(false);
});
