import { headers, type Msg, type NatsConnection, type PublishOptions } from '@nats-io/nats-core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchLostCalls } from './lost-calls.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Processes of users, and a connection to NATS over which they answer questions. */
function users() {
  const running = new Set<string>();
  const hung = new Set<string>();
  const receivers: ((error: undefined, message: Msg) => void)[] = [];
  const reply = (subject: string, from: string | undefined): void => {
    const h = headers();
    if (from) h.set('Natter-Instance', from);
    const message = { subject, headers: h, string: () => '' } as Msg;
    setTimeout(() => receivers.forEach((receive) => void receive(undefined, message)), 5);
  };
  const nats = {
    subscribe: (_: string, { callback }: { callback: (typeof receivers)[number] }) => receivers.push(callback),
    publish: (subject: string, _: unknown, options: PublishOptions) => {
      const asked = subject === 'natter-cancel.users.caller' ? [...running] : running.has(subject) ? [subject] : [];
      for (const instance of asked) if (!hung.has(instance)) reply(options.reply ?? '', instance);
    },
  };
  return { running, hung, nats: nats as unknown as NatsConnection };
}

/** Calls that are answered at once, several times a second. */
async function callFor(lost: ReturnType<typeof watchLostCalls>, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 200) {
    lost.watch('users', `call ${passed}`, 0).done();
    await vi.advanceTimersByTimeAsync(200);
  }
}

test('a hung process that started after its caller is detected even if no call was slow', async () => {
  const { nats, running, hung } = users();
  const lost = watchLostCalls(nats, 'caller', { error: () => undefined });
  running.add('first');
  await callFor(lost, 1_000);
  running.add('second');
  await callFor(lost, 5_000);
  expect(lost.responsive('users')).toBeUndefined();
  hung.add('second');
  await callFor(lost, 4_000);
  expect(lost.responsive('users')).toBe('first');
  hung.delete('second');
  await callFor(lost, 2_000);
  expect(lost.responsive('users')).toBeUndefined();
});

test('a service that is not called is not probed', async () => {
  const { nats, running } = users();
  running.add('first');
  const publish = vi.spyOn(nats, 'publish');
  const lost = watchLostCalls(nats, 'caller', { error: () => undefined });
  await callFor(lost, 3_000);
  await vi.advanceTimersByTimeAsync(5_000);
  publish.mockClear();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(publish).not.toHaveBeenCalled();
});

test('a call that may not be repeated waits for a process that responds', async () => {
  const { nats, running, hung } = users();
  const lost = watchLostCalls(nats, 'caller', { error: () => undefined });
  running.add('first').add('second');
  hung.add('first');
  const chosen = lost.confirmed('users');
  await vi.advanceTimersByTimeAsync(10);
  expect(await chosen).toBe('second');
  hung.add('second');
  await vi.advanceTimersByTimeAsync(1_000);
  const later = lost.confirmed('users');
  await vi.advanceTimersByTimeAsync(3_900);
  hung.delete('first');
  const known = lost.confirmed('users');
  await vi.advanceTimersByTimeAsync(10);
  expect([await later, await known]).toEqual(['first', 'first']);
});

test('a call that may not be repeated does not go to a process that hung after its last response', async () => {
  const { nats, running, hung } = users();
  const lost = watchLostCalls(nats, 'caller', { error: () => undefined });
  running.add('first').add('second');
  const before = lost.confirmed('users');
  await vi.advanceTimersByTimeAsync(10);
  await before;
  hung.add('first');
  const chosen = Array.from({ length: 20 }, () => lost.confirmed('users'));
  await vi.advanceTimersByTimeAsync(10);
  expect(new Set(await Promise.all(chosen))).toEqual(new Set(['second']));
});

test('a caller that was stopped reads the responses before it considers processes hung', async () => {
  const { nats, running } = users();
  const lost = watchLostCalls(nats, 'caller', { error: () => undefined });
  running.add('first').add('second');
  await callFor(lost, 5_000);
  const now = performance.now();
  // The clock moves, but nothing runs: as after SIGCONT, timers are due before sockets are read.
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 10_000);
  await vi.advanceTimersByTimeAsync(100);
  expect(lost.responsive('users')).toBeUndefined();
  clock.mockRestore();
});
