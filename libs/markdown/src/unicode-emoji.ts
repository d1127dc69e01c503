import { gemoji } from 'gemoji';
import { NAMES_BY_CODE } from './emoji-names.ts';

/** Code points in hex joined by "-", without variation selectors; the first name is the one shown. */
export const emojiNames: Map<string, string[]> = new Map();
const codeByName = new Map<string, string>();

for (const [code, names] of Object.entries(NAMES_BY_CODE)) register(code, names.split(' '));
for (const { emoji, names } of gemoji) register(codeOf(emoji), names);

function register(code: string, names: string[]): void {
  for (const name of names) {
    if (codeByName.has(name)) continue;
    codeByName.set(name, code);
    emojiNames.set(code, [...(emojiNames.get(code) ?? []), name]);
  }
}

/** What an emoji begins with: other characters cost one look. */
const firstCodes = new Set([...emojiNames.keys()].map((code) => code.split('-', 1)[0] ?? ''));

export function unicodeEmoji(name: string): string | undefined {
  return codeByName.get(name);
}

function codeOf(emoji: string): string {
  return [...emoji]
    .map((ch) => (ch.codePointAt(0) ?? 0).toString(16).padStart(4, '0'))
    .filter((code) => code !== 'fe0f')
    .join('-');
}

const MAX_CODE_POINTS = 10;
const VARIATION_SELECTOR = '\u{fe0f}';
const KEYCAP = '\u{20e3}';
const CANDIDATE = /[\u{203c}-\u{3299}\u{1f004}-\u{1faff}]|[0-9#*](?=\u{fe0f}?\u{20e3})/u;

export interface FoundEmoji {
  start: number;
  end: number;
  code: string;
  name: string;
}

/** The emoji in a text, each as its longest known sequence. Positions are UTF-16 units. */
export function findEmoji(text: string): FoundEmoji[] {
  if (!CANDIDATE.test(text)) return [];
  const found: FoundEmoji[] = [];
  for (let at = 0; at < text.length; ) {
    const emoji = emojiAt(text, at);
    if (emoji !== undefined) found.push(emoji);
    at = emoji?.end ?? at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
  }
  return found;
}

function emojiAt(text: string, start: number): FoundEmoji | undefined {
  const first = text.codePointAt(start) ?? 0;
  const startsKeycap = text[start + 1] === KEYCAP || text[start + 2] === KEYCAP;
  if (first < 0x203c && !startsKeycap) return undefined;
  if (!firstCodes.has(first.toString(16).padStart(4, '0'))) return undefined;
  let longest: FoundEmoji | undefined;
  let code = '';
  let end = start;
  for (let count = 0; count < MAX_CODE_POINTS && end < text.length; count++) {
    const ch = String.fromCodePoint(text.codePointAt(end) ?? 0);
    end += ch.length;
    if (ch !== VARIATION_SELECTOR) code += `${code === '' ? '' : '-'}${codeOf(ch)}`;
    const name = emojiNames.get(code)?.[0];
    if (name !== undefined) longest = { start, end, code, name };
  }
  return longest;
}
