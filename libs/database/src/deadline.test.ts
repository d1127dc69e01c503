import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { currentDeadline, pause, untilDeadline, withDeadline, withoutDeadline } from './deadline.ts';

const unavailable = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

describe('a deadline', () => {
  test('is that of the work around it where that has less time left', async () => {
    await withDeadline(1_000, () =>
      withDeadline(60_000, async (inner) => expect(inner.remainingMs()).toBeLessThanOrEqual(1_000)),
    );
    await withDeadline(60_000, () =>
      withDeadline(1_000, async (inner) => expect(inner.remainingMs()).toBeLessThanOrEqual(1_000)),
    );
  });

  test('that ends rejects waits, aborts the signal and ends what was begun within', async () => {
    await withDeadline(60_000, async (outer) => {
      await withDeadline(60_000, async (inner) => {
        const { signal } = inner;
        const waits = [pause(60_000), untilDeadline(new Promise(() => undefined))];
        const results = Promise.allSettled(waits);
        outer.cancel();
        expect(await results).toEqual(waits.map(() => ({ status: 'rejected', reason: unavailable })));
        expect(signal.aborted).toBe(true);
        expect(inner.hasEnded).toBe(true);
        expect(() => inner.check()).toThrow(unavailable as unknown as Error);
      });
      expect(outer.signal.aborted).toBe(true);
    });
  });

  test('that has passed is over also before its timer ran', async () => {
    await withDeadline(0, async (deadline) => {
      expect(deadline.hasEnded).toBe(true);
      expect(deadline.remainingMs()).toBe(0);
    });
  });

  test('does not hold for work that is not awaited, once the request is answered', async () => {
    let released: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      released = resolve;
    });
    let left: Promise<unknown> = Promise.resolve();
    await withDeadline(60_000, async (deadline) => {
      left = gate.then(() => currentDeadline());
      expect(currentDeadline()).toBe(deadline);
      expect(withoutDeadline(currentDeadline)).toBeUndefined();
    });
    await turn();
    released();
    expect(await left).toBeUndefined();
  });
});
