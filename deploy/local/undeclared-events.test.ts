import { expect, test } from 'vitest';
import { allUndeclaredEvents, undeclaredEvents, unsentTypes } from './undeclared-events.ts';

const undeclaredIn = (text: string): string[] => undeclaredEvents('services/users/src/model/fixture.ts', text);
const found = (line: number, name: string): string => `services/users/src/model/fixture.ts:${line}: ${name}`;

test('the code names only events that are declared', () => {
  expect(allUndeclaredEvents()).toEqual([]);
});

test('each declared type of event is sent by a service', () => {
  expect(unsentTypes()).toEqual([]);
});

test('lint fails on an event that is not declared, however it is emitted', () => {
  expect(
    undeclaredIn(`work.emit({ type: 'alert_words', body, audience: 'realm' });
work.emit({ type: 'alert_word', body, audience: 'realm' });
work.emit({ type: 'drafts', op: 'erase', body, audience });
const event = { ...other, type: 'mood' as const, audience } as const;
work.emit(toSelf(userId, 'drafts/erase', { draft_id }));
work.emit(eventForUsers('mood', {}, [userId]));`),
  ).toEqual([
    found(2, 'alert_word'),
    found(3, 'drafts/erase'),
    found(4, 'mood'),
    found(5, 'drafts/erase'),
    found(6, 'mood'),
  ]);
});

test('lint compares only the type of an event whose operation is computed', () => {
  const emitted = (type: string) => `work.emit({ type: '${type}', op: isNew ? 'add' : 'update', body, audience });`;
  expect(undeclaredIn(emitted('drafts'))).toEqual([]);
  expect(undeclaredIn(emitted('mood'))).toEqual([found(1, 'mood/*')]);
});

test('a part of an event needs no operation', () => {
  const part = (type: string) =>
    `const alone = { type: '${type}', audience: 'realm', isForClientsOnly: true } as const;`;
  expect(undeclaredIn(part('realm_emoji'))).toEqual([]);
  expect(undeclaredIn(part('mood'))).toEqual([found(1, 'mood')]);
});

test('lint fails on a consumer of an event that is not declared', () => {
  expect(
    undeclaredIn(`owner.consume({ name: 'people', on: { 'realm_user/add': added, 'realm_user/gone': gone, mood } });`),
  ).toEqual([found(1, 'realm_user/gone'), found(1, 'mood')]);
});

test('objects that are not events may have any type', () => {
  expect(undeclaredIn(`const message = { type: 'direct', to: [userId], content };`)).toEqual([]);
});
