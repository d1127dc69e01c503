import { expect, test } from 'vitest';
import { directPlace, type Message, type Narrow, topicPlace } from '../state/place.ts';
import type { Outgoing } from '../state/state.ts';
import type { View } from '../state/views.ts';
import { isRowOf, messageForKeys, rowsOf } from './rows.ts';

const reader = 7;
const friend = 8;
const silenced = 9;
const at = 1_700_000_000;

const inTopic = (id: number, sender_id: number): Message =>
  ({ id, type: 'stream', stream_id: 3, subject: 'T', sender_id, timestamp: at + id, flags: [] }) as unknown as Message;
const direct = (id: number, others: number[]): Message =>
  ({
    ...inTopic(id, silenced),
    type: 'private',
    display_recipient: [reader, ...others].map((one) => ({ id: one })),
  }) as unknown as Message;

function rows(narrow: Narrow, listed: readonly Message[], revealed: readonly number[] = []) {
  const view = { narrow, ids: listed.map(({ id }) => id), hasNewest: true } as unknown as View;
  const messages = new Map(listed.map((one) => [one.id, one]));
  return rowsOf({
    ...{ view, messages, outbox: [], ownId: reader, clockSkew: 0 },
    ...{ muted: new Set([silenced]), revealed: new Set(revealed) },
  });
}
const topic = topicPlace(3, 'T');

test('adjacent messages of muted users are shown as one row with their number, on which no keys act', () => {
  const listed = [inTopic(1, friend), inTopic(2, silenced), inTopic(3, silenced), inTopic(4, friend)];
  const shown = rows(topic, listed);
  expect(shown.map(({ message, hidden }) => [message?.id, hidden])).toEqual([
    [1, []],
    [2, [2, 3]],
    [4, []],
  ]);
  expect(shown.map((row) => isRowOf(row, 3))).toEqual([false, true, false]);
  expect(shown[2]?.isNamed).toBe(true);
  expect(shown.map((row) => messageForKeys(row)?.id)).toEqual([1, undefined, 4]);
});

test('messages of a muted person that the reader revealed are shown with their names', () => {
  const shown = rows(topic, [inTopic(1, silenced), inTopic(2, silenced)], [1, 2]);
  expect(shown.map(({ hidden, isNamed }) => [hidden, isNamed])).toEqual([
    [[], true],
    [[], false],
  ]);
});

test('direct messages with only a muted user are not in other lists', () => {
  const listed = [direct(1, [silenced]), direct(2, [friend, silenced])];
  expect(rows({ kind: 'feed' }, listed).map(({ hidden }) => hidden)).toEqual([[2]]);
  const own = directPlace([silenced], reader);
  expect(rows(own, [direct(1, [silenced])]).map(({ hidden }) => hidden)).toEqual([[1]]);
});

test('an outgoing message appears under the day of the server, even if the local clock is wrong', () => {
  const view = { narrow: topic, ids: [1], hasNewest: true } as unknown as View;
  const clockSkew = -2 * 24 * 60 * 60;
  const outgoing: Outgoing = { id: 'a', place: topic, content: 'Hi', at: (at + 2 - clockSkew) * 1_000, queueId: 'q' };
  const shown = rowsOf({
    ...{ view, messages: new Map([[1, inTopic(1, reader)]]), outbox: [outgoing], ownId: reader, clockSkew },
    ...{ muted: new Set<number>(), revealed: new Set<number>() },
  });
  expect(shown.map(({ day, isNamed }) => [day !== undefined, isNamed])).toEqual([
    [true, true],
    [false, false],
  ]);
});

test('a status names its sender, and so does the message after it', () => {
  const plain = inTopic(1, friend);
  const status = { ...inTopic(2, friend), is_me_message: true };
  const shown = rows(topic, [plain, status, inTopic(3, friend), inTopic(4, friend)]);
  expect(shown.map(({ isNamed }) => isNamed)).toEqual([true, true, true, false]);
});
