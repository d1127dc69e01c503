import { expect, test } from 'vitest';
import { groupMention, placeLink, strong } from './names-in-notices.ts';

test('plain names are links, mentions and bold', () => {
  expect(placeLink('general')).toBe('#**general**');
  expect(placeLink('general', '[a] b > c')).toBe('#**general>[a] b > c**');
  expect(placeLink('general', '')).toBe('#**general>**');
  expect(placeLink('general', 'lunch', 7)).toBe('#**general>lunch@7**');
  expect(strong('R&D, 2.0')).toBe('**R&D, 2.0**');
  expect(groupMention('designers')).toBe('@_*designers*');
});

test('names that would end their markup are code', () => {
  expect(placeLink('a** @**all')).toBe('`#a** @**all`');
  expect(placeLink('general', 'a`** @**all', 7)).toBe("`#general > a'** @**all`");
  expect(placeLink('a>b')).toBe('`#a>b`');
  expect(strong('[x](http://evil.example)')).toBe('`[x](http://evil.example)`');
  expect(groupMention('a* @*role:owners')).toBe('`a* @*role:owners`');
});
