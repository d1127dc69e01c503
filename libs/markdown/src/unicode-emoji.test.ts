import { expect, test } from 'vitest';
import { emptyContext, render } from './render.ts';
import { emojiNames, unicodeEmoji } from './unicode-emoji.ts';

const characters = (code: string): string[] =>
  code.split('-').map((hex) => String.fromCodePoint(Number.parseInt(hex, 16)));

/** Adds the variation selectors of the fully qualified form. */
const qualified = (code: string): string =>
  characters(code)
    .map((character) =>
      /\p{Emoji}/u.test(character) && !/\p{Emoji_Presentation}/u.test(character) ? `${character}\u{fe0f}` : character,
    )
    .join('');

test('every code is an emoji of Unicode 15.1', () => {
  expect(emojiNames.size).toBe(1875);
  const rgi = /^\p{RGI_Emoji}$/v;
  expect(
    [...emojiNames.keys()].filter((code) => !rgi.test(qualified(code)) && !rgi.test(characters(code).join(''))),
  ).toEqual([]);
});

test('every name means one emoji, whose character is shown with its canonical name', () => {
  const seen = new Set<string>();
  for (const [code, names] of emojiNames) {
    for (const name of names) {
      expect([name, seen.has(name)]).toEqual([name, false]);
      seen.add(name);
      expect([name, unicodeEmoji(name)]).toEqual([name, code]);
      expect(render(`:${name}:`, emptyContext).html).toContain(`class="emoji emoji-${code}"`);
    }
    const title = names[0]?.replaceAll('_', ' ');
    expect(render(`a ${qualified(code)} b`, emptyContext).html).toBe(
      `<p>a <span aria-label="${title}" class="emoji emoji-${code}" role="img" title="${title}">:${names[0]}:</span> b</p>`,
    );
  }
});
