import { expect, test } from 'vitest';
import type { DueBot } from './delivery-row.ts';
import { createSlots } from './slots.ts';

const bot = (realm_id: number, bot_id: number, count = 4, owner_id = bot_id): DueBot => ({
  realm_id,
  owner_id,
  bot_id,
  count,
});
const botsOf = (realmId: number, bots: number): DueBot[] =>
  Array.from({ length: bots }, (_, i) => bot(realmId, realmId * 1_000 + i));
const inRealm = (dealt: readonly DueBot[], realmId: number): number =>
  dealt.filter(({ realm_id }) => realm_id === realmId).length;

test('a bot gets at most 4 slots and a realm at most 16, however many messages are due', () => {
  expect(createSlots().deal([bot(1, 1, 9)])).toHaveLength(4);
  expect(createSlots().deal(botsOf(1, 50))).toHaveLength(16);
});

test('a realm with many bots leaves slots for a realm with one bot', () => {
  for (let round = 0; round < 50; round++) {
    const dealt = createSlots().deal([1, 2, 3, 4, 5].flatMap((id) => botsOf(id, 100)).concat(bot(6, 6)));
    expect(inRealm(dealt, 6)).toBeGreaterThan(0);
  }
});

test('a realm gets at most half of the free slots, or the last free one', () => {
  const slots = createSlots();
  const busy = [1, 2, 3].flatMap((id) => slots.deal(botsOf(id, 50)));
  expect(busy).toHaveLength(48);
  expect(slots.deal(botsOf(4, 50))).toHaveLength(8);
  expect([1, 2, 3, 4].map((id) => slots.deal(botsOf(id + 4, 50)).length)).toEqual([4, 2, 1, 1]);
  expect(slots.deal([bot(9, 9)])).toEqual([]);
  for (const one of busy.slice(0, 2)) slots.free(one);
  expect(slots.deal(botsOf(10, 1))).toHaveLength(1);
});

test('slow bots of one owner leave slots for the bots of others', () => {
  const slots = createSlots();
  const many = Array.from({ length: 10 }, (_, i) => bot(1, i, 4, 900));
  for (let round = 0; round < 5; round++) slots.deal(many);
  expect(slots.deal([...many, bot(1, 50), bot(1, 51)]).map(({ bot_id }) => bot_id)).toEqual(
    expect.arrayContaining([50, 51]),
  );
});

test('the bot owners of a realm take turns', () => {
  for (let round = 0; round < 50; round++) {
    const many = Array.from({ length: 10 }, (_, i) => bot(1, i, 4, 900));
    const dealt = createSlots().deal(many.concat(bot(1, 50), bot(1, 51)));
    expect(dealt.filter(({ bot_id }) => bot_id >= 50).length).toBeGreaterThanOrEqual(4);
  }
});
