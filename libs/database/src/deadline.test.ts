import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { currentDeadline, pause, untilDeadline, withDeadline, withoutDeadline } from './deadline.ts';

const unavailable = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

describe('a deadline', () => {
  test('is limited by the deadline of the work around it', async () => {
    await withDeadline(1_000, () =>
      withDeadline(60_000, async (inner) => expect(inner.remainingMs()).toBeLessThanOrEqual(1_000)),
    );
    await withDeadline(60_000, () =>
      withDeadline(1_000, async (inner) => expect(inner.remainingMs()).toBeLessThanOrEqual(1_000)),
    );
  });

  test('rejects waits, aborts the signal and ends inner deadlines when it ends', async () => {
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

  test('is over once its time has passed, even before its timer runs', async () => {
    await withDeadline(0, async (deadline) => {
      expect(deadline.hasEnded).toBe(true);
      expect(deadline.remainingMs()).toBe(0);
    });
  });

  test('does not apply to work that is not awaited after the request is answered', async () => {
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
