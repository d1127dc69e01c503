import { expect, test } from 'vitest';
import { languageName } from './code-language.ts';
import { emptyContext, render } from './render.ts';
import { CODE_LANGUAGES } from './tables/code-languages.ts';
import { rowsOf } from './tables/rows.ts';

const shownAs = (fence: string): string | undefined =>
  /data-code-language="([^"]*)"/.exec(render(`${fence}\nx\n\`\`\``, emptyContext).html)?.[1];

test('each of 924 aliases is shown as its language, in any case and after a dot', () => {
  const rows = rowsOf(CODE_LANGUAGES);
  expect(rows).toHaveLength(924);
  expect(new Set(rows.map(([alias]) => alias)).size).toBe(924);
  for (const [alias = '', name = ''] of rows) {
    expect([alias, languageName(alias)]).toEqual([alias, name]);
    expect([alias, languageName(alias.toUpperCase())]).toEqual([alias, name]);
    // A fence accepts these characters only.
    if (!/^[\w+,./#-]+$/.test(alias)) continue;
    const escaped = name.replaceAll('&', '&amp;');
    expect([alias, shownAs(`\`\`\`${alias}`), shownAs(`\`\`\`.${alias}`)]).toEqual([alias, escaped, escaped]);
  }
});

test.each([
  ['js', 'JavaScript'],
  ['py3', 'Python'],
  ['c++', 'C++'],
  ['c#', 'C#'],
  ['sh', 'Bash'],
  ['rb', 'Ruby'],
  ['yaml', 'YAML'],
  ['console', 'Bash Session'],
  ['text', 'Text only'],
  ['r', 'S'],
  ['objc', 'Objective-C'],
  ['tex', 'TeX'],
])('%s is %s', (alias, name) => {
  expect(shownAs(`\`\`\`${alias}`)).toBe(name);
});
