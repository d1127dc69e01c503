import { expect, test } from 'vitest';
import { withDeadline } from './deadline.ts';
import { WaitingTasks } from './waiting-tasks.ts';

const somebody = { realmId: 1, userId: 1 };

test('a task whose deadline ended before it came starts at most once and is no longer counted', async () => {
  const tasks = new WaitingTasks(10);
  let begun = 0;
  await withDeadline(60_000, async (deadline) => {
    deadline.cancel();
    const started = tasks.wait(somebody, () => begun++);
    expect(tasks.startNext()).toBe(true);
    await started;
    const late = tasks.wait(somebody, () => begun++);
    await expect(late).rejects.toThrow();
  });
  expect(begun).toBe(1);
  expect(tasks.size).toBe(0);
  expect(tasks.startNext()).toBe(false);
});

test('tasks that stop waiting leave room for others', async () => {
  const tasks = new WaitingTasks(10);
  const gaveUp = Array.from({ length: 5 }, () => withDeadline(1, () => tasks.wait(somebody, () => undefined)));
  await expect(tasks.wait(somebody, () => undefined)).rejects.toThrow('busy');
  expect((await Promise.allSettled(gaveUp)).map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
  const next = tasks.wait(somebody, () => undefined);
  expect(tasks.startNext()).toBe(true);
  await next;
});
