/** Text of one class; '' is text without a class. */
export interface Piece {
  text: string;
  cssClass: string;
}

/** The tokens of text that the highlighter leaves without a class; each group of the pattern has a class. */
interface Tokens {
  pattern: RegExp;
  classes: readonly string[];
}

const CODE: Tokens = {
  pattern: /([\p{L}_$][\p{L}\p{N}_$]*)|([-+*/%=<>!&|^~?@]+)|([()[\]{}:;,.#]+)/gu,
  classes: ['n', 'o', 'p'],
};
const PYTHON: Tokens = {
  pattern: /(\b(?:self|cls)\b)|([\p{L}_][\p{L}\p{N}_]*)|([-+*/%=<>!&|^~@.]+)|([()[\]{}:;,]+)/gu,
  classes: ['bp', 'n', 'o', 'p'],
};
const LATEX: Tokens = { pattern: /([{}&_^]+)/g, classes: ['nb'] };
const OTHER_CODE = new Map([
  ['Python', PYTHON],
  ['LaTeX', LATEX],
]);
/** Grammars with keywords whose other words are text. */
const SHELLS = new Set(['Bash', 'Batch file (DOS)', 'Dockerfile', 'Makefile', 'PowerShell']);
/** Grammars in which single quotes enclose a character. */
const WITH_CHARACTERS = new Set(['C', 'C++', 'C#', 'Go', 'Haskell', 'Java', 'Kotlin', 'Rust', 'Scala']);

const PYTHON_WORDS = new Map([
  ...['and', 'in', 'is', 'not', 'or'].map((word) => [word, 'ow'] as const),
  ...['from', 'import'].map((word) => [word, 'kn'] as const),
]);

/** Refines the highlighter's classes by the text of each piece. Adjacent pieces differ in class. */
export function refined(pieces: readonly Piece[], grammar: { name: string; hasKeywords: boolean }): Piece[] {
  const { name, hasKeywords } = grammar;
  const tokens = OTHER_CODE.get(name) ?? (hasKeywords && !SHELLS.has(name) ? CODE : undefined);
  const result: Piece[] = [];
  /** The opening quote of a string that contains other pieces: expressions, escapes. */
  let open: string | undefined;
  for (const { text, cssClass } of pieces) {
    if (cssClass === '') add(result, tokens === undefined ? [{ text, cssClass }] : split(text, tokens));
    else if (cssClass === 's') {
      const quote = open ?? /^["']/.exec(text)?.[0];
      add(result, [{ text, cssClass: stringClassOf(quote, name) }]);
      open = quote === undefined || isClosed(text, quote, open !== undefined) ? undefined : quote;
    } else
      add(result, [
        { text, cssClass: (name === 'Python' ? PYTHON_WORDS.get(text) : undefined) ?? classOf(text, cssClass) },
      ]);
  }
  return result;
}

function add(result: Piece[], pieces: readonly Piece[]): void {
  for (const piece of pieces) {
    const last = result.at(-1);
    if (last?.cssClass === piece.cssClass) last.text += piece.text;
    else result.push({ ...piece });
  }
}

function split(text: string, { pattern, classes }: Tokens): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    const [token, ...groups] = match;
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), cssClass: '' });
    pieces.push({ text: token, cssClass: classes.find((_, i) => groups[i] !== undefined) ?? '' });
    at = match.index + token.length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), cssClass: '' });
  return pieces;
}

function stringClassOf(quote: string | undefined, grammar: string): string {
  if (quote === undefined) return 's';
  if (WITH_CHARACTERS.has(grammar)) return quote === '"' ? 's' : 'sc';
  return quote === '"' ? 's2' : 's1';
}

const isClosed = (text: string, quote: string, wasOpen: boolean): boolean =>
  text.endsWith(quote) && (wasOpen || text.length > 1);

function classOf(text: string, cssClass: string): string {
  if (cssClass === 'c1' || cssClass === 'cp') {
    if (text.startsWith('#!')) return 'ch';
    if (text.startsWith('/*')) return 'cm';
    if (text.startsWith('@')) return 'nd';
  }
  if (cssClass === 'mi') return /^0x/i.test(text) ? 'mh' : /[.e]/i.test(text) ? 'mf' : 'mi';
  return cssClass;
}
