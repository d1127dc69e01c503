import { idSet } from '@natter/contracts';
import { expect, test } from 'vitest';
import type { Destination } from './destination.ts';
import { triggeredWebhooks } from './triggered-webhooks.ts';

const ids = Array.from({ length: 30 }, (_, i) => 30 - i);
const none = { userIds: [], webhookIds: new Set<number>(), called: [] };
const person = [{ isBot: false }];
const botsOf = ({ rows }: ReturnType<typeof triggeredWebhooks>): unknown[] =>
  rows(0).map((one) => ('row' in one ? one.row.bot_id : undefined));

test('a message triggers the first ten of the bots that it mentions', () => {
  const channel = { kind: 'channel', audience: idSet([]) } as unknown as Destination;
  const mentioned = { userIds: ids, webhookIds: new Set(ids), called: ids };
  expect(botsOf(triggeredWebhooks(person, channel, mentioned))).toEqual(ids.slice(0, 10));
});

test('a direct message triggers at most ten of its bots', () => {
  const people = ids.map((user_id) => ({ user_id, is_webhook: true }));
  const direct = { kind: 'direct', people } as unknown as Destination;
  expect(botsOf(triggeredWebhooks(person, direct, none))).toHaveLength(10);
});
