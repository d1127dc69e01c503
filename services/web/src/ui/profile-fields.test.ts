import { expect, test } from 'vitest';
import { accountLink, optionData, optionsOf, type ProfileField, peopleOf, webLink } from './profile-fields.ts';

const field = (data: unknown): ProfileField =>
  ({ id: 1, type: 3, field_data: typeof data === 'string' ? data : JSON.stringify(data) }) as unknown as ProfileField;

test('options keep their keys while their order and their number change', () => {
  const before = [
    { key: '0', text: 'red' },
    { key: '1', text: 'green' },
    { key: '4', text: 'blue' },
  ];
  const data = optionData('blue\n\n red \npink\nblue', before);
  expect(data).toEqual({
    '4': { text: 'blue', order: '0' },
    '0': { text: 'red', order: '1' },
    '5': { text: 'pink', order: '2' },
  });
  expect(optionsOf(field(data)).map(({ text }) => text)).toEqual(['blue', 'red', 'pink']);
  expect(optionData('', before)).toEqual({});
  expect(optionsOf(field('not JSON'))).toEqual([]);
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
