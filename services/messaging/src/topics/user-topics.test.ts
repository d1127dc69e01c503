import { idsOf, type LogEvent } from '@natter/contracts';
import type { ConsumerOptions, Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { mutesEnded } from '../model/user-topics.ts';
import { mutedTopicsConsumer } from './user-topics.ts';

type Ended = LogEvent<'mutes_ended'>;

/** The consumer, and a unit in which every list of mutes is empty; records the users of the lists that it emits. */
function consumer() {
  let options: Partial<ConsumerOptions> = {};
  const consume = (given: ConsumerOptions) => {
    options = given;
  };
  mutedTopicsConsumer({ consume } as unknown as Owner);
  const told: number[][] = [];
  const work: Partial<Work> = {
    realmId: 1,
    run: async () => 0,
    any: async () => [],
    emit: (event) => told.push(event.audience === 'realm' ? [] : [...idsOf(event.audience.users)]),
  };
  const unit = work as Work;
  return {
    gatherMs: options.gatherMs,
    handle: (userIds: number[]) => options.on?.mutes_ended?.(unit, mutesEnded(userIds) as Ended, 1),
    finish: () => options.finish?.(unit),
    told,
  };
}

const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, index) => first + index);

test('a transaction sends each user one list of muted topics for all changes that it handles', async () => {
  const { handle, finish, told, gatherMs } = consumer();
  for (const userIds of [[1, 2], [2], [1, 2, 3]]) expect(await handle(userIds)).toBeUndefined();
  await finish();
  expect(told).toEqual([[1, 2, 3]]);
  expect(gatherMs).toBe(1_000);
});

test('a transaction sends lists of muted topics to at most 500 users, and leaves the other events to the next', async () => {
  const { handle, finish, told } = consumer();
  for (let first = 1; first <= 451; first += 50) expect(await handle(from(first, 50))).toBeUndefined();
  expect(await handle(from(401, 100))).toBeUndefined();
  expect(await handle(from(500, 2))).toBe('unfinished');
  await finish();
  expect(told.flat()).toEqual(from(1, 500));
});

test('an event that names more users than usual is handled alone', async () => {
  const { handle, finish, told } = consumer();
  expect(await handle(from(1, 1_200))).toBeUndefined();
  await finish();
  expect(told.flat()).toEqual(from(1, 1_200));
});
