import { expect, test } from 'vitest';
import { isEmail } from '../model/change-email.ts';
import { addressOf } from './addresses.ts';

test('addresses beside names are recognised, and texts that are too long are not addresses', () => {
  expect(['ann@x.example', ' Ann <ann@x.example> ', '<ann@x.example>'].map(addressOf)).toEqual(
    Array(3).fill('ann@x.example'),
  );
  const long = `${'a'.repeat(300)}@x.example`;
  expect([isEmail(`${'a'.repeat(244)}@x.example`), isEmail(long), isEmail(addressOf(`Ann <${long}>`))]).toEqual([
    true,
    false,
    false,
  ]);
  expect(isEmail(addressOf(`${'<a> '.repeat(1_000)}<ann@x.example>`))).toBe(false);
});
