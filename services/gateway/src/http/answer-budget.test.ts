import { expect, test } from 'vitest';
import { createAnswerBudget, type Reader } from './answer-budget.ts';

const by = (group: string, caller: string) => ({ group, caller });

class Client implements Reader {
  deliveredBytes = 0;
  isCut = false;
  cut(): void {
    this.isCut = true;
  }
}

/** A budget, its clock in milliseconds, and clients that received an answer and read nothing. */
function create(totalBytes: number) {
  const clock = { ms: 0 };
  const budget = createAnswerBudget(totalBytes, () => clock.ms);
  const answer = (group: string, caller: string, bytes: number, isRequired = false) => {
    const client = new Client();
    const lease = budget.open(by(group, caller), client);
    const refusal = lease.resize(bytes, isRequired)?.code;
    return { client, lease, refusal };
  };
  return { clock, budget, answer };
}

test('a client above its share is refused until it has read, and others are not', () => {
  const { budget, answer } = create(160);
  const first = answer('realm', 'ann', 30);
  expect(first.refusal).toBeUndefined();
  expect(answer('realm', 'ann', 11).refusal).toBe('RATE_LIMIT_HIT');
  expect(() => budget.check(by('realm', 'ann'))).not.toThrow();
  expect(answer('realm', 'ann', 10).refusal).toBeUndefined();
  expect(() => budget.check(by('realm', 'ann'))).toThrow('not been read');
  expect(() => budget.check(by('realm', 'bob'))).not.toThrow();
  expect(answer('realm', 'bob', 40).refusal).toBeUndefined();
  first.lease.release();
  first.lease.release();
  expect(budget.heldBytes).toBe(50);
  expect(answer('realm', 'ann', 30).refusal).toBeUndefined();
});

test('a client without unread answers receives an answer that is larger than its share', () => {
  const { answer } = create(160);
  expect(answer('realm', 'ann', 70).refusal).toBeUndefined();
  expect(answer('realm', 'ann', 1).refusal).toBe('RATE_LIMIT_HIT');
});

test('the answer to a write may exceed the share, but not twice the share', () => {
  const { answer } = create(160);
  expect(answer('realm', 'ann', 40).refusal).toBeUndefined();
  expect(answer('realm', 'ann', 40, true).refusal).toBeUndefined();
  expect(answer('realm', 'ann', 1, true).refusal).toBe('RATE_LIMIT_HIT');
});

test('in a group above its share, the slowest connections are closed, but young ones stay open', () => {
  const { clock, budget, answer } = create(160);
  const [slow, stuck] = [answer('realm', 'ann', 30), answer('realm', 'bob', 30)];
  clock.ms = 10_000;
  const young = answer('realm', 'cid', 20);
  slow.client.deliveredBytes = 5_000;
  expect(answer('realm', 'dan', 15).refusal).toBeUndefined();
  expect([slow, stuck, young].map(({ client }) => client.isCut)).toEqual([false, true, false]);
  expect(budget.heldBytes).toBe(65);
  expect(answer('realm', 'eve', 40).refusal).toBeUndefined();
  expect([slow, young].map(({ client }) => client.isCut)).toEqual([true, false]);
  expect(answer('realm', 'fay', 40).refusal).toBe('SERVICE_UNAVAILABLE');
  stuck.lease.release();
  slow.lease.release();
  expect(budget.heldBytes).toBe(75);
  expect(stuck.lease.resize(10, true)?.code).toBe('SERVICE_UNAVAILABLE');
});

test('large groups do not close connections of a small one, and all groups together stay below the limit', () => {
  const { clock, budget, answer } = create(1_600);
  const victims = Array.from({ length: 10 }, (_, user) => answer('quiet', `user ${user}`, 10));
  clock.ms = 60_000;
  for (let round = 0; round < 500; round++) {
    clock.ms += 100;
    for (const group of ['one', 'two', 'three', 'four']) answer(group, `user ${round}`, 50, round % 2 === 0);
    expect(budget.heldBytes).toBeLessThanOrEqual(1_600);
  }
  expect(victims.filter(({ client }) => client.isCut)).toEqual([]);
  clock.ms += 10_000;
  const late = answer('five', 'ann', 10);
  expect(late.refusal).toBeUndefined();
  clock.ms += 10_000;
  for (const group of ['one', 'two', 'three', 'four']) answer(group, 'ann', 200);
  expect([...victims, late].filter(({ client }) => client.isCut)).toEqual([]);
});

test('a response that is sent in parts counts only the bytes in memory', () => {
  const { clock, budget } = create(160);
  const client = new Client();
  const stream = budget.open(by('realm', 'ann'), client);
  for (let part = 0; part < 100; part++) {
    clock.ms += 5_000;
    expect(stream.resize(30, false)).toBeUndefined();
    client.deliveredBytes += 30;
    expect(stream.resize(0, false)).toBeUndefined();
    expect(budget.heldBytes).toBe(0);
  }
});
