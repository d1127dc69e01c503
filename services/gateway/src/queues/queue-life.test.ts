import type { QueueRecord, RequestMeta } from '@natter/contracts';
import { type Bus, untilDeadline, withDeadline } from '@natter/service-kit';
import { afterEach, expect, test, vi } from 'vitest';
import { createQueueLife } from './queue-life.ts';

afterEach(() => void vi.restoreAllMocks());

const queue = { queue_id: 'q', realm_id: 1, idle_timeout_seconds: 600 } as QueueRecord;
const meta: RequestMeta = { requestId: '', realmId: 1, client: '' };

test.each([-7_200_000, 7_200_000])(
  'a polled queue is extended in time if the wall clock moves by %i ms',
  async (ms) => {
    let extensions = 0;
    const bus = {
      call: async () => {
        extensions++;
        return { gone: [] };
      },
    } as unknown as Bus;
    const life = createQueueLife(bus, 10);
    await life.keep(queue, meta);
    expect([extensions, life.dueIn(queue) > 0]).toEqual([1, true]);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
    expect(life.dueIn(queue)).toBeGreaterThan(0);
    // More than a quarter of the lifetime of the queue.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 151_000);
    expect(life.dueIn(queue)).toBeLessThanOrEqual(0);
    await life.keep(queue, meta);
    expect(extensions).toBe(2);
  },
);

test('a queue that is new to this process is extended at once, even in the first minutes of the process', () => {
  expect(createQueueLife({} as Bus, 10).dueIn(queue)).toBeLessThanOrEqual(0);
});

test('a poll that ends does not end the extension that others of its realm wait for', async () => {
  const called = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const bus = {
    call: async () => {
      called.resolve();
      await untilDeadline(answered.promise);
      return { gone: [] };
    },
  } as unknown as Bus;
  const life = createQueueLife(bus, 10);
  const ended = withDeadline(60_000, async (deadline) => {
    const kept = life.keep(queue, meta);
    await called.promise;
    deadline.cancel();
    await kept;
  });
  const other = life.keep({ ...queue, queue_id: 'other' }, meta);
  await expect(ended).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  answered.resolve();
  await other;
});
