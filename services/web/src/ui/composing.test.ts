import { expect, test } from 'vitest';
import { isOfInputMethod, isSendKey } from './composing.ts';

test.each([
  ['a key during a composition', { isComposing: true, keyCode: 229 }, true],
  ['a key with its own code during a composition', { isComposing: true, keyCode: 13 }, true],
  ['the Enter of WebKit that confirms a conversion', { isComposing: false, keyCode: 229 }, true],
  ['Enter', { isComposing: false, keyCode: 13 }, false],
])('whether %s belongs to an input method', (_, event, expected) => {
  expect(isOfInputMethod(event)).toBe(expected);
});

const none = { key: 'Enter', shiftKey: false, ctrlKey: false, metaKey: false, isComposing: false, keyCode: 13 };

test.each([
  ['Enter', none, true, false],
  ['Shift+Enter', { ...none, shiftKey: true }, false, false],
  ['Ctrl+Enter', { ...none, ctrlKey: true }, true, true],
  ['Cmd+Enter', { ...none, metaKey: true }, true, true],
  ['another key', { ...none, key: 'a', ctrlKey: true }, false, false],
  ['an Enter of an input method', { ...none, keyCode: 229 }, false, false],
])('whether %s sends the text', (_, event, withSetting, without) => {
  expect([true, false].map((choice) => isSendKey(event, () => choice))).toEqual([withSetting, without]);
});
