export type PatternNode =
  | { kind: 'char'; test: (ch: string) => boolean }
  | { kind: 'assert'; test: (chars: string[], at: number) => boolean }
  | { kind: 'sequence'; items: PatternNode[] }
  | { kind: 'choice'; items: PatternNode[] }
  | { kind: 'group'; number: number | undefined; item: PatternNode }
  | { kind: 'repeat'; item: PatternNode; min: number; max: number | undefined; lazy: boolean };

interface Cursor {
  chars: string[];
  at: number;
  groups: Map<string, number>;
  groupCount: number;
  depth: number;
  flags: { ignoreCase: boolean; dotAll: boolean; multiline: boolean };
}

class Unsupported extends Error {}

const MAX_PATTERN_LENGTH = 2000;
const MAX_DEPTH = 100;
const MAX_REPEAT = 1000;
const GROUP_NAME = /^\w+$/;
const CLASS_LETTERS = 'dDwWsS';
const CONTROL: Record<string, string> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v', a: '\x07' };
const POSIX: Record<string, string> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** RE2's syntax as linkifiers use it; undefined when the pattern is not in it. */
export function parsePattern(pattern: string): { node: PatternNode; groups: Map<string, number> } | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined;
  const flags = { ignoreCase: false, dotAll: false, multiline: false };
  const cursor: Cursor = { chars: [...pattern], at: 0, groups: new Map(), groupCount: 0, depth: 0, flags };
  try {
    const node = choice(cursor);
    return cursor.at < cursor.chars.length ? undefined : { node, groups: cursor.groups };
  } catch (error) {
    // SyntaxError: a character class or property that RegExp refuses.
    if (error instanceof Unsupported || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function choice(cursor: Cursor): PatternNode {
  if (++cursor.depth > MAX_DEPTH) throw new Unsupported('nested too deeply');
  const items = [sequence(cursor)];
  while (eat(cursor, '|')) items.push(sequence(cursor));
  cursor.depth--;
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : { kind: 'choice', items };
}

function sequence(cursor: Cursor): PatternNode {
  const items: PatternNode[] = [];
  for (let ch = cursor.chars[cursor.at]; ch !== undefined && ch !== '|' && ch !== ')'; ch = cursor.chars[cursor.at]) {
    items.push(repeat(cursor, atom(cursor)));
  }
  return { kind: 'sequence', items };
}

function repeat(cursor: Cursor, item: PatternNode): PatternNode {
  const bounds = repeatBounds(cursor);
  if (bounds === undefined) return item;
  const lazy = eat(cursor, '?');
  if (/^[*+?]$/.test(cursor.chars[cursor.at] ?? '')) throw new Unsupported('repeated repetition');
  return { kind: 'repeat', item, ...bounds, lazy };
}

function repeatBounds(cursor: Cursor): { min: number; max: number | undefined } | undefined {
  if (eat(cursor, '*')) return { min: 0, max: undefined };
  if (eat(cursor, '+')) return { min: 1, max: undefined };
  if (eat(cursor, '?')) return { min: 0, max: 1 };
  if (cursor.chars[cursor.at] !== '{') return undefined;
  const text = cursor.chars.slice(cursor.at, cursor.at + 12).join('');
  const match = /^\{(\d+)(?:(,)(\d*))?\}/.exec(text);
  if (match === null) return undefined;
  cursor.at += match[0].length;
  const min = Number(match[1]);
  const max = match[2] === undefined ? min : match[3] === '' ? undefined : Number(match[3]);
  if (min > MAX_REPEAT || (max !== undefined && (max > MAX_REPEAT || max < min))) throw new Unsupported('repeat count');
  return { min, max };
}

function atom(cursor: Cursor): PatternNode {
  const ch = take(cursor);
  if (ch === '(') return group(cursor);
  if (ch === '[') return characterClass(cursor);
  if (ch === '\\') return escaped(cursor);
  if (ch === '.') {
    const { dotAll } = cursor.flags;
    return { kind: 'char', test: (c) => dotAll || c !== '\n' };
  }
  if (ch === '^' || ch === '$') return anchor(ch, cursor.flags.multiline);
  if (ch === '*' || ch === '+' || ch === '?') throw new Unsupported('nothing to repeat');
  return literal(ch, cursor);
}

function anchor(ch: '^' | '$', multiline: boolean): PatternNode {
  if (ch === '^') return { kind: 'assert', test: (chars, at) => at === 0 || (multiline && chars[at - 1] === '\n') };
  return { kind: 'assert', test: (chars, at) => at === chars.length || (multiline && chars[at] === '\n') };
}

function group(cursor: Cursor): PatternNode {
  const outerFlags = { ...cursor.flags };
  let number: number | undefined;
  if (eat(cursor, '?')) {
    if (cursor.chars[cursor.at] === 'P' || cursor.chars[cursor.at] === '<') number = namedGroup(cursor);
    else if (setFlags(cursor)) return { kind: 'sequence', items: [] };
  } else number = ++cursor.groupCount;
  const item = choice(cursor);
  if (!eat(cursor, ')')) throw new Unsupported('unclosed group');
  cursor.flags = outerFlags;
  return { kind: 'group', number, item };
}

function namedGroup(cursor: Cursor): number {
  eat(cursor, 'P');
  if (!eat(cursor, '<')) throw new Unsupported('group kind');
  let name = '';
  for (let ch = take(cursor); ch !== '>'; ch = take(cursor)) name += ch;
  if (!GROUP_NAME.test(name) || cursor.groups.has(name)) throw new Unsupported('group name');
  cursor.groups.set(name, ++cursor.groupCount);
  return cursor.groupCount;
}

/** True for `(?i)`, which applies to the rest of the group around it. */
function setFlags(cursor: Cursor): boolean {
  const flags = { ...cursor.flags };
  let on = true;
  for (let ch = take(cursor); ch !== ':'; ch = take(cursor)) {
    if (ch === '-') on = false;
    else if (ch === 'i') flags.ignoreCase = on;
    else if (ch === 's') flags.dotAll = on;
    else if (ch === 'm') flags.multiline = on;
    else if (ch === ')') {
      cursor.flags = flags;
      return true;
    } else throw new Unsupported('flag');
  }
  cursor.flags = flags;
  return false;
}

function escaped(cursor: Cursor): PatternNode {
  const ch = take(cursor);
  if (ch === 'b' || ch === 'B') {
    const isWord = (c: string | undefined) => c !== undefined && /^\w$/.test(c);
    return { kind: 'assert', test: (chars, at) => (isWord(chars[at - 1]) !== isWord(chars[at])) === (ch === 'b') };
  }
  if (ch === 'A') return anchor('^', false);
  if (ch === 'z') return anchor('$', false);
  if (CLASS_LETTERS.includes(ch)) return tested(`[\\${ch}]`, cursor);
  if (ch === 'p' || ch === 'P') return tested(`[${property(ch, cursor)}]`, cursor);
  const control = CONTROL[ch] ?? (ch === 'x' ? hex(cursor) : undefined);
  if (control === undefined && /^[0-9A-Za-z]$/.test(ch)) throw new Unsupported('escape');
  return literal(control ?? ch, cursor);
}

function property(letter: string, cursor: Cursor): string {
  let name = take(cursor);
  if (name === '{') {
    name = '';
    for (let ch = take(cursor); ch !== '}'; ch = take(cursor)) name += ch;
  }
  const negated = name.startsWith('^');
  const plain = negated ? name.slice(1) : name;
  if (!GROUP_NAME.test(plain)) throw new Unsupported('property');
  const isScript = plain.length > 2;
  return `\\${negated === (letter === 'P') ? 'p' : 'P'}{${isScript ? 'Script=' : ''}${plain}}`;
}

function hex(cursor: Cursor): string {
  let digits = '';
  if (eat(cursor, '{')) for (let ch = take(cursor); ch !== '}'; ch = take(cursor)) digits += ch;
  else digits = take(cursor) + take(cursor);
  if (!/^[0-9A-Fa-f]{1,6}$/.test(digits) || Number.parseInt(digits, 16) > 0x10ffff) throw new Unsupported('hex escape');
  return String.fromCodePoint(Number.parseInt(digits, 16));
}

function characterClass(cursor: Cursor): PatternNode {
  let source = eat(cursor, '^') ? '^' : '';
  for (let isFirst = true; ; isFirst = false) {
    const ch = take(cursor);
    if (ch === ']' && !isFirst) return tested(`[${source}]`, cursor);
    if (ch === '\\') source += escapeInClass(cursor);
    else if (ch === '[' && cursor.chars[cursor.at] === ':') source += posixClass(cursor);
    else source += ch === '-' ? '-' : codePoint(ch);
  }
}

function escapeInClass(cursor: Cursor): string {
  const ch = take(cursor);
  if (CLASS_LETTERS.includes(ch)) return `\\${ch}`;
  if (ch === 'p' || ch === 'P') return property(ch, cursor);
  return codePoint(CONTROL[ch] ?? (ch === 'x' ? hex(cursor) : ch));
}

function posixClass(cursor: Cursor): string {
  cursor.at++;
  let name = '';
  for (let ch = take(cursor); ch !== ':'; ch = take(cursor)) name += ch;
  const ranges = POSIX[name];
  if (ranges === undefined || !eat(cursor, ']')) throw new Unsupported('named class');
  return ranges;
}

function codePoint(ch: string): string {
  return `\\u{${(ch.codePointAt(0) ?? 0).toString(16)}}`;
}

function literal(ch: string, cursor: Cursor): PatternNode {
  if (cursor.flags.ignoreCase) return tested(`[${codePoint(ch)}]`, cursor);
  return { kind: 'char', test: (c) => c === ch };
}

/** One character at a time, so the engine behind RegExp has nothing to backtrack over. */
function tested(classSource: string, cursor: Cursor): PatternNode {
  const regExp = new RegExp(`^${classSource}$`, cursor.flags.ignoreCase ? 'iu' : 'u');
  return { kind: 'char', test: (c) => regExp.test(c) };
}

function eat(cursor: Cursor, ch: string): boolean {
  if (cursor.chars[cursor.at] !== ch) return false;
  cursor.at++;
  return true;
}

function take(cursor: Cursor): string {
  const ch = cursor.chars[cursor.at++];
  if (ch === undefined) throw new Unsupported('ends too early');
  return ch;
}
