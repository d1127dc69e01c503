import { expect, test } from 'vitest';
import type { InTurn } from '../rate-limit/in-turn.ts';
import { createScanTurns } from './scan-turns.ts';

const pollOf = (queueId: string, isOver = () => false) => ({
  queueId,
  tenant: { realmId: 1, userId: 7 },
  isOver,
  idle: <W>(wait: Promise<W>) => wait,
});
const atOnce: InTurn = (_, work) => work();
const tick = () => new Promise(setImmediate);

test('scans of one queue run one at a time, beside scans of other queues', async () => {
  const turns = createScanTurns(atOnce);
  const running: string[] = [];
  let end: () => void = () => undefined;
  const work = (name: string) => async () => {
    running.push(name);
    await new Promise<void>((resolve) => {
      end = resolve;
    });
  };
  const all = ['a', 'a', 'b'].map((queue, index) => turns.of(pollOf(queue)).run(work(`${queue}${index}`)));
  const ofB = end;
  await tick();
  expect(running).toEqual(['a0', 'b2']);
  ofB();
  await all[2];
  expect(running).toEqual(['a0', 'b2']);
});

test('a poll that is over does not run a scan or wait for a turn', async () => {
  let [isOver, ran] = [false, 0];
  const never: InTurn = async (_, work) => {
    const { currentDeadline } = await import('@natter/service-kit');
    await new Promise((_, reject) => currentDeadline()?.onEnd(() => reject(new Error('too late'))));
    return work();
  };
  const poll = createScanTurns(never).of(pollOf('a', () => isOver));
  const waiting = poll.run(async () => void ran++);
  await tick();
  isOver = true;
  poll.leave();
  await waiting;
  await poll.run(async () => void ran++);
  expect(ran).toBe(0);
});

test('a scan that does not get a turn fails', async () => {
  const refuse: InTurn = async () => {
    throw new Error('busy');
  };
  const poll = createScanTurns(refuse).of(pollOf('a'));
  await expect(poll.run(async () => undefined)).rejects.toThrow('busy');
  await expect(poll.run(async () => undefined)).rejects.toThrow('busy');
});
