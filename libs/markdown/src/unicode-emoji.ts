import { EMOJI_NAMES } from './tables/emoji-names.ts';
import { rowsOf } from './tables/rows.ts';

/**
 * Names by code; the first name is the canonical one. A code is its code points in hex joined by "-", without variation
 * selectors.
 */
export const emojiNames: Map<string, readonly string[]> = new Map(
  rowsOf(EMOJI_NAMES).map(([code = '', name = '', aliases = '']) => [
    code,
    [name, ...aliases.split(' ').filter(Boolean)],
  ]),
);

const codeByName = new Map([...emojiNames].flatMap(([code, names]) => names.map((name) => [name, code] as const)));

export function unicodeEmoji(name: string): string | undefined {
  return codeByName.get(name);
}

/** Clients may send variation selectors inside a sequence; the table has none. */
export const emojiCode = (given: string): string => given.replaceAll('-fe0f', '');

export interface FoundEmoji {
  start: number;
  end: number;
  code: string;
  name: string;
}

const ELEMENT = String.raw`(?:\p{RI}\p{RI}|\p{Emoji}(?:\p{EMod}|\ufe0f\u20e3?|[\u{e0020}-\u{e007e}]{1,16}\u{e007f})?)`;
/** Matches the form of one emoji (Unicode Technical Standard 51), known or not. */
const POSSIBLE_EMOJI = new RegExp(String.raw`${ELEMENT}(?:\u200d${ELEMENT})*`, 'gu');
/** A character that is shown as text unless a variation selector follows: arrows, digits, signs. */
const TEXT_CHARACTER = /^\P{Emoji_Presentation}$/u;
const MAY_HOLD_EMOJI = /[^\0-\u00ff]|[\u00a9\u00ae]/;

/** The emoji in a text. A sequence is one emoji or, if it is unknown, none. Positions are UTF-16 units. */
export function findEmoji(text: string): FoundEmoji[] {
  if (!MAY_HOLD_EMOJI.test(text)) return [];
  return [...text.matchAll(POSSIBLE_EMOJI)].flatMap((match) => {
    const [found] = match;
    if (TEXT_CHARACTER.test(found)) return [];
    const code = codeOf(found);
    const name = emojiNames.get(code)?.[0];
    return name === undefined ? [] : [{ start: match.index, end: match.index + found.length, code, name }];
  });
}

function codeOf(emoji: string): string {
  const codes = [...emoji].map((character) => (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0'));
  return codes.filter((code) => code !== 'fe0f').join('-');
}
