import { expect, test } from 'vitest';
import { eventForUsers, type LogEvent } from './event.ts';
import { loggedEvents, problemOfLogEvent } from './index.ts';

const emit = (_: LogEvent): void => undefined;
const users = (...ids: number[]) => ({ users: { ids } });

test('an event that does not match its declaration does not compile', () => {
  emit({ type: 'alert_words', body: { alert_words: ['tea'] }, audience: users(1) });
  // @ts-expect-error There is no such event.
  emit({ type: 'alert_word', body: { alert_words: ['tea'] }, audience: users(1) });
  // @ts-expect-error A word is a text.
  emit({ type: 'alert_words', body: { alert_words: [1] }, audience: users(1) });
  // @ts-expect-error The body has no other fields.
  emit({ type: 'alert_words', body: { alert_words: [], count: 0 }, audience: users(1) });
  // @ts-expect-error It is never for the whole realm.
  emit({ type: 'alert_words', body: { alert_words: [] }, audience: 'realm' });
  // @ts-expect-error Its consumers need the note.
  emit({ type: 'mutes_ended', body: {}, audience: users() });
  const update = { type: 'realm', op: 'update', audience: 'realm' } as const;
  // @ts-expect-error A setting has the type of its own value.
  emit({ ...update, body: { property: 'waiting_period_threshold', value: 'ten' } });
  // @ts-expect-error The event about a removed draft contains only its id.
  emit(eventForUsers('drafts/remove', { draft: 1 }, [1]));
});

test('a logged event is compared with its declared body, note and audience', () => {
  const problemOf = (event: object) =>
    problemOfLogEvent({ type: 'alert_words', body: {}, audience: users(1), ...event });
  expect(problemOf({ body: { alert_words: ['tea'] } })).toBeUndefined();
  expect(problemOf({ type: 'alert_word' })).toBe('alert_word: no such event');
  expect(problemOf({ type: 'constructor' })).toBe('constructor: no such event');
  expect(problemOf({})).toMatch(/^alert_words: alert_words: /);
  expect(problemOf({ body: { alert_words: [] }, audience: 'realm' })).toBe('alert_words: not for users');
  expect(problemOf({ body: { alert_words: [] }, note: {} })).toMatch(/^alert_words: note: /);
  const ended = { type: 'mutes_ended', note: { user_ids: [1] } };
  expect(problemOf({ ...ended, audience: users() })).toBeUndefined();
  expect(problemOf(ended)).toBe('mutes_ended: not for nobody');
  const variants = [{ audience: users(1), patch: { alert_words: [1] } }];
  expect(problemOf({ body: { alert_words: [] }, variants })).toMatch(/^alert_words: variant: /);
});

test('every event has a summary of one sentence', () => {
  for (const [name, { summary }] of Object.entries(loggedEvents)) expect(summary, name).toMatch(/^[A-Z][^\n]*\.$/);
});
