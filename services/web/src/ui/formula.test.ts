import { expect, test } from 'vitest';
import { formulaValue } from './formula.ts';

const kept = (name: string, value: string, tag = 'mpadded', isResized = false) =>
  formulaValue(name, value, { tag, isResized });

test('a part of a formula is raised and lowered by less than a line', () => {
  for (const value of ['-0.5ex', '0.7em', '3pt', '0.25em', '-1em', '0em']) expect(kept('voffset', value)).toBe(value);
  for (const gone of ['30em', '-30em', '1.5em', '300pt', '10mm', '1e3em', '2', '', 'em', '1.2.3em', '0.5em 30em'])
    expect([gone, kept('voffset', gone)]).toEqual([gone, undefined]);
});

test('a formula has no background except its rules, which have the colour of the text', () => {
  expect(kept('mathbackground', 'white')).toBeUndefined();
  expect(kept('mathcolor', 'white', 'mstyle')).toBeUndefined();
  expect(kept('mathbackground', 'black', 'mspace')).toBe('currentcolor');
});

test('a size is applied only once', () => {
  expect(kept('mathsize', '2.488em', 'mstyle')).toBe('2.488em');
  expect(kept('mathsize', '2.488em', 'mstyle', true)).toBeUndefined();
});

test('other attributes are unchanged', () => {
  expect(kept('lspace', '-1width')).toBe('-1width');
  expect(kept('href', '/somewhere', 'a')).toBe('/somewhere');
});
