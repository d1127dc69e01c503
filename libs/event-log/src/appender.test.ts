import type { LogEntry } from '@natter/contracts';
import { expect, test } from 'vitest';
import { batches, createAppender } from './appender.ts';
import type { LogRedis } from './redis.ts';

const entry = (number: number, characters = 10): LogEntry =>
  ({
    number,
    n: 0,
    mark: number,
    previousMark: number - 1,
    at: 0,
    event: { type: 'test', op: 'add', body: { text: 'x'.repeat(characters) }, audience: {} },
  }) as unknown as LogEntry;

test('batches keep the order, and bound what one command carries', () => {
  const entries = [entry(1, 400_000), entry(2, 200_000), entry(3, 2_000_000), entry(4), entry(5)];
  const split = [...batches(entries)];
  expect(split.map((batch) => batch.entries.map(({ number }) => number))).toEqual([[1], [2], [3], [4, 5]]);
  expect(split.every((batch) => batch.data.length === batch.entries.length)).toBe(true);
  expect([...batches([])]).toEqual([]);
});

test('a change of any number of events is appended, a few hundred arguments at a time', async () => {
  const largest: number[] = [];
  const seen: number[] = [];
  const log = {
    runId: async () => 'run',
    appendScript: async (_: unknown, args: (string | number)[]) => {
      largest.push(args.length);
      for (let at = 4; at < args.length; at += 5) seen.push(Number(args[at]));
      return ['ok', Number(seen.at(-1))];
    },
  } as unknown as LogRedis;
  const errors: unknown[] = [];
  const appender = createAppender({
    log,
    publish: () => undefined,
    signer: async () => undefined,
    readRecord: async () => [],
    commit: async () => undefined,
    onConflict: () => errors.push('conflict'),
    onError: (error) => errors.push(error),
    maxLength: 1_000,
    maxBytes: 1_000_000,
    secondsToLive: 60,
  });
  const numbers = Array.from({ length: 50_000 }, (_, index) => index + 1);
  await appender.append(
    1,
    numbers.map((number) => entry(number)),
  );
  expect(errors).toEqual([]);
  expect(seen).toEqual(numbers);
  expect(Math.max(...largest)).toBeLessThan(1_100);
});
