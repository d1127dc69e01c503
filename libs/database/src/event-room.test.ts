import type { LogEvent } from '@natter/contracts';
import { expect, test } from 'vitest';
import { createEventRoom } from './event-room.ts';

const about = (user_ids: number[], variants: number[][] = []): LogEvent => ({
  type: 'user_group',
  op: 'add_members',
  body: { group_id: 1, user_ids },
  audience: 'realm',
  variants: variants.map((ids) => ({ audience: { users: { ids: [1] } }, patch: { user_ids: ids } })),
});
const tooMuch = 'The request changes too much at once';
const many = (count: number): number[] => new Array(count).fill(1);

test('a unit has room for 25,000 events', () => {
  const requireRoom = createEventRoom();
  for (let n = 0; n < 25_000; n++) requireRoom(about([n]));
  expect(() => requireRoom(about([1]))).toThrow(tooMuch);
});

test('an event has 8 MiB, with its variants', () => {
  const requireRoom = createEventRoom();
  const ids = many(100_000);
  requireRoom(about(ids, new Array(9).fill(ids)));
  expect(() => requireRoom(about(ids, new Array(10).fill(ids)))).toThrow(tooMuch);
  expect(() => requireRoom(about([], new Array(1_000_000).fill(ids)))).toThrow(tooMuch);
});

test('the events of a unit have 32 MiB', () => {
  const requireRoom = createEventRoom();
  const event = about(many(1_000_000));
  for (let n = 0; n < 4; n++) requireRoom(event);
  expect(() => requireRoom(event)).toThrow(tooMuch);
});

test('the events of a consumer may have any size, because the effects of an event cannot be rejected', () => {
  const requireRoom = createEventRoom(true);
  const event = about(many(2_000_000));
  for (let n = 0; n < 4; n++) requireRoom(event);
});
