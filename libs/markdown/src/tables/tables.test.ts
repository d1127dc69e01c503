import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CODE_LANGUAGES } from './code-languages.ts';
import { EMOJI_NAMES } from './emoji-names.ts';

test.each([
  ['emoji-names', EMOJI_NAMES],
  ['code-languages', CODE_LANGUAGES],
])('the table %s is made from its data', (name, table) => {
  const data = readFileSync(new URL(`../../data/${name}.tsv`, import.meta.url), 'utf8');
  expect(table.trim()).toBe(data.trim().replace(/^.*\n/, ''));
});
