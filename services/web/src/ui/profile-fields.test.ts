import { expect, test } from 'vitest';
import {
  accountLink,
  mergedOptions,
  optionData,
  optionsOf,
  type ProfileField,
  peopleOf,
  webLink,
} from './profile-fields.ts';

const field = (data: unknown): ProfileField =>
  ({ id: 1, type: 3, field_data: typeof data === 'string' ? data : JSON.stringify(data) }) as unknown as ProfileField;

const red = { key: '0', text: 'red' };
const green = { key: '1', text: 'green' };
const blue = { key: '4', text: 'blue' };

test('options keep their keys, and new ones get keys that no option had', () => {
  const data = optionData([blue, { key: '0', text: ' dark red ' }], 'pink\n\n blue \npink', [red, green, blue]);
  expect(data).toEqual({
    '4': { text: 'blue', order: '0' },
    '0': { text: 'dark red', order: '1' },
    '5': { text: 'pink', order: '2' },
  });
  expect(optionsOf(field(data)).map(({ text }) => text)).toEqual(['blue', 'dark red', 'pink']);
  expect(optionData([red], 'pink', [red, green, blue])).toMatchObject({ '5': { text: 'pink' } });
  expect(optionData([], '')).toEqual({});
  expect(optionsOf(field('not JSON'))).toEqual([]);
});

test('edited options keep what another administrator changed', () => {
  const before = [red, green];
  const renamed = [red, { key: '1', text: 'lime' }];
  const newest = [blue, { key: '0', text: 'crimson' }, green];
  expect(mergedOptions({ before, after: renamed }, newest)).toEqual([
    blue,
    { key: '0', text: 'crimson' },
    { key: '1', text: 'lime' },
  ]);
  expect(mergedOptions({ before, after: before }, newest)).toEqual(newest);
  expect(mergedOptions({ before, after: [green] }, newest)).toEqual([blue, green]);
  expect(mergedOptions({ before, after: [green, red] }, newest)).toEqual([green, { key: '0', text: 'crimson' }, blue]);
  expect(mergedOptions({ before, after: renamed }, [red])).toEqual([red]);
  const same = [...renamed];
  expect(mergedOptions({ before, after: renamed }, same)).toBe(same);
});

test('accounts link only to web pages', () => {
  expect(accountLink(field({ subtype: 'github' }), 'a b')).toBe('https://github.com/a%20b');
  const own = field({ subtype: 'custom', url_pattern: 'https://example.com/~%(username)s' });
  expect(accountLink(own, '../x')).toBe('https://example.com/~..%2Fx');
  const hostile = field({ subtype: 'custom', url_pattern: 'javascript:alert("%(username)s")' });
  expect([accountLink(hostile, 'x'), accountLink(field(''), 'x'), webLink('javascript:1')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('an invalid list of users is read as empty', () => {
  expect([peopleOf('[1,2]'), peopleOf(''), peopleOf('{}'), peopleOf('[')]).toEqual([[1, 2], [], [], []]);
});
