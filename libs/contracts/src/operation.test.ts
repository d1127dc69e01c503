import { expect, test } from 'vitest';
import { operations } from './operations/index.ts';

test('GET operations do not change anything, because mail scanners and link previews open them, also with HEAD', () => {
  const opened = operations.filter((one) => (one.http ?? one.page)?.method === 'GET');
  expect(opened.length).toBeGreaterThan(50);
  // A poll without a queue creates one.
  const opening = ['get-events'];
  for (const { name, isReadOnly, events } of opened.filter(({ name }) => !opening.includes(name)))
    expect([name, isReadOnly, events]).toEqual([name, true, []]);
});

test('an operation whose events repeat a whole list weighs ten at least', () => {
  const repeating = operations.filter(({ events }) =>
    ['alert_words', 'muted_users', 'realm_emoji', 'realm_linkifiers'].some((type) => events.includes(type)),
  );
  expect(repeating.length).toBeGreaterThan(6);
  for (const { name, weight } of repeating) expect(weight, name).toBeGreaterThanOrEqual(10);
});
