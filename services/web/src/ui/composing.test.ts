import { expect, test } from 'vitest';
import { isOfInputMethod } from './composing.ts';

test.each([
  ['a key during a composition', { isComposing: true, keyCode: 229 }, true],
  ['a key with its own code during a composition', { isComposing: true, keyCode: 13 }, true],
  ['the Enter of WebKit that confirms a conversion', { isComposing: false, keyCode: 229 }, true],
  ['Enter', { isComposing: false, keyCode: 13 }, false],
])('whether %s belongs to an input method', (_, event, expected) => {
  expect(isOfInputMethod(event)).toBe(expected);
});
