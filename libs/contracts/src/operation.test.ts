import { expect, test } from 'vitest';
import { operations } from './operations/index.ts';

test('what is asked for with GET changes nothing: scanners of mail and previews of links open it, also with HEAD', () => {
  const opened = operations.filter((one) => (one.http ?? one.page)?.method === 'GET');
  expect(opened.length).toBeGreaterThan(50);
  // A poll without a queue opens one of its own.
  const opening = ['get-events'];
  for (const { name, isReadOnly, events } of opened.filter(({ name }) => !opening.includes(name)))
    expect([name, isReadOnly, events]).toEqual([name, true, []]);
});
