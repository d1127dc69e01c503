import { expect, test } from 'vitest';
import { isOfSystem } from './modifiers.ts';

interface Held {
  ctrlKey?: boolean;
  metaKey?: boolean;
  altKey?: boolean;
  isAltGraph?: boolean;
}

test.each<[string, string, Held, boolean]>([
  ['a letter', 'r', {}, false],
  ['Ctrl and a letter', 'r', { ctrlKey: true }, true],
  ['Cmd and a sign', '+', { metaKey: true }, true],
  ['Ctrl and a sign', '+', { ctrlKey: true }, true],
  ['Alt and a letter', 'e', { altKey: true }, true],
  ['Alt and an arrow', 'ArrowUp', { altKey: true }, true],
  ['AltGr of Windows and a sign', '@', { ctrlKey: true, altKey: true, isAltGraph: true }, false],
  ['AltGr of Linux and a sign', '@', { isAltGraph: true }, false],
  ['AltGr of Windows and a letter', 'n', { ctrlKey: true, altKey: true, isAltGraph: true }, true],
  ['Option and a sign', '@', { altKey: true }, false],
  ['Ctrl, Alt and a sign', '@', { ctrlKey: true, altKey: true }, true],
])('whether %s is a key of the system', (_, key, held, expected) => {
  const { isAltGraph = false, ...modifiers } = held;
  const none = { ctrlKey: false, metaKey: false, altKey: false };
  expect(isOfSystem({ key, ...none, ...modifiers, getModifierState: () => isAltGraph })).toBe(expected);
});
