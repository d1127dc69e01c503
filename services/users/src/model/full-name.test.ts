import { expect, test } from 'vitest';
import { checkedFullName } from './full-name.ts';

test('a name that is invisible, or that reverses the text after it, is rejected', () => {
  for (const name of ['\u3164\u3164', '\u2800\u2800', 'Ann\u202e', '\u115f\u1160'])
    expect(() => checkedFullName(name)).toThrow(/Name too short!|Invalid characters in name!/);
  expect(checkedFullName(' Ann ❤️ ')).toBe('Ann ❤️');
});
