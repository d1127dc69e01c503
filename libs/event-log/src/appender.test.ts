import type { LogEntry, LogEvent } from '@natter/contracts';
import { expect, test } from 'vitest';
import { batches, createAppender } from './appender.ts';
import type { LogRedis } from './redis.ts';
import { type Signer, signingKey } from './signing.ts';

const signer: Signer = { source: 'messaging', key: signingKey(Buffer.alloc(32)) };

const entry = (number: number, characters = 10): LogEntry =>
  ({
    number,
    n: 0,
    mark: number,
    previousMark: number - 1,
    at: 0,
    event: { type: 'test', op: 'add', body: { text: 'x'.repeat(characters) }, audience: {} },
  }) as unknown as LogEntry;

test('batches keep the order, and one command carries a bounded number of entries', () => {
  const entries = [entry(1, 400_000), entry(2, 200_000), entry(3, 2_000_000), entry(4), entry(5)];
  const split = [...batches(entries)];
  expect(split.map((batch) => batch.entries.map(({ number }) => number))).toEqual([[1], [2], [3], [4, 5]]);
  expect(split.every((batch) => batch.data.length === batch.entries.length)).toBe(true);
  expect([...batches([])]).toEqual([]);
});

/** An appender on this Redis, and the numbers that it announced to gateways. */
function announcing(log: Partial<LogRedis>, onAnnounced: () => void = () => undefined, signer?: Signer) {
  const announced: number[] = [];
  const committed: LogEvent[] = [];
  const errors: unknown[] = [];
  const appender = createAppender({
    log: { runId: async () => 'run', now: () => Date.now(), ...log } as unknown as LogRedis,
    publish: (subject, payload) => {
      if (!subject.startsWith('natter.log.')) return;
      const hint = JSON.parse(payload) as { entries?: LogEntry[]; upTo?: number };
      announced.push(...(hint.entries?.map(({ number }) => number) ?? [hint.upTo ?? 0]));
      onAnnounced();
    },
    signer: async () => signer,
    readRecord: undefined,
    commit: async (_, event) => void committed.push(event),
    onConflict: () => errors.push('conflict'),
    onError: (error) => errors.push(error),
    maxLength: 1_000,
    maxBytes: 1_000_000,
    secondsToLive: 60,
  });
  return { appender, announced, committed, errors };
}

test('entries are announced once even if Redis does not answer', async () => {
  let answer = (_: [string, number, number, number]): void => undefined;
  const appendScript: LogRedis['appendScript'] = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const { appender, announced, errors } = announcing({ appendScript });
  const appended = appender.append(1, [entry(1), entry(2)]);
  await expect.poll(() => announced).toEqual([1, 2]);
  answer(['ok', 2, 0, 0]);
  await appended;
  expect([announced, errors]).toEqual([[1, 2], []]);
});

test('entries are announced even if a slow Redis lacks the entries before them', async () => {
  let asked = 0;
  let askedBefore = 0;
  const appendScript: LogRedis['appendScript'] = async () => {
    asked++;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return asked > 3 ? ['ok', 5, 0, 0] : ['gap', 3, 0, 0];
  };
  const { appender, announced } = announcing({ appendScript }, () => {
    askedBefore = asked;
  });
  const appended = appender.append(1, [entry(5)]);
  await expect.poll(() => announced).toEqual([5]);
  // Redis had not accepted the entry then.
  expect(askedBefore).toBeLessThan(4);
  await appended;
  expect(announced).toEqual([5]);
});

test('an ephemeral event that Redis does not accept promptly is committed', async () => {
  const silent = { ephemeralScript: () => new Promise<never>(() => undefined) };
  const { appender, announced, committed } = announcing(silent, undefined, signer);
  const { event } = entry(1);
  await appender.appendEphemeral(1, event);
  expect([announced, committed]).toEqual([[], [event]]);
});

test('an ephemeral event is committed while its service cannot sign, because gateways skip unsigned ones', async () => {
  const ephemeralScript: LogRedis['ephemeralScript'] = async () => [3, 1, 3];
  const signed = announcing({ ephemeralScript }, undefined, signer);
  const { event } = entry(1);
  await signed.appender.appendEphemeral(1, event);
  expect([signed.announced, signed.committed]).toEqual([[3], []]);
  const unsigned = announcing({ ephemeralScript });
  await unsigned.appender.appendEphemeral(1, event);
  expect([unsigned.announced, unsigned.committed]).toEqual([[], [event]]);
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
