import type { Emitter } from 'highlight.js';
import { grammarNames } from './code-language.ts';
import { heavy } from './heavy.ts';
import { escapeHtml } from './node.ts';
import { type Piece, refined } from './token-class.ts';

/** Grammars backtrack, mostly within a line, so blocks that are longer or have a longer line are not highlighted. */
const MAX_HIGHLIGHTED_LENGTH = 10_000;
const MAX_HIGHLIGHTED_LINE = 500;
const LONG_LINE = new RegExp(`[^\\n]{${MAX_HIGHLIGHTED_LINE + 1}}`);
/** CPU time after which a block is shown without colors. Some grammars need seconds for some texts. */
const MAX_MS = 70;
const CALLS_BETWEEN_CHECKS = 64;
/** Denser code keeps the highlighter's own classes: the HTML of a message is bounded (ADR 0015). */
const maxRefinedLength = (code: string): number => 20 * code.length + 1_000;

/** Maps highlight.js scopes to the short classes of Pygments, for which every client has a stylesheet. */
const SHORT_CLASSES: Record<string, string> = {
  keyword: 'k',
  built_in: 'nb',
  type: 'kt',
  literal: 'kc',
  number: 'mi',
  operator: 'o',
  punctuation: 'p',
  property: 'n',
  regexp: 'sr',
  string: 's',
  'char.escape': 'se',
  subst: 'si',
  symbol: 'ss',
  'variable.language': 'bp',
  'variable.constant': 'no',
  variable: 'nv',
  'title.class': 'nc',
  'title.class.inherited': 'nc',
  'title.function': 'nf',
  'title.function.invoke': 'nf',
  title: 'nf',
  params: '',
  comment: 'c1',
  doctag: 'cs',
  meta: 'cp',
  'meta.prompt': 'gp',
  section: 'gh',
  tag: 'p',
  name: 'nt',
  attr: 'na',
  attribute: 'na',
  bullet: 'k',
  code: 's',
  emphasis: 'ge',
  strong: 'gs',
  link: 's',
  quote: 'gs',
  addition: 'gi',
  deletion: 'gd',
  'selector-tag': 'nt',
  'selector-id': 'nn',
  'selector-class': 'nc',
  'selector-attr': 'na',
  'selector-pseudo': 'nd',
  'template-tag': 'cp',
  'template-variable': 'nv',
};

/** The time of the current block, which nested languages share. */
const time = { endsAtMs: 0, calls: 0 };

/** The highlighter catches the error and returns the pieces so far. */
function checkTime(): void {
  if (time.calls++ % CALLS_BETWEEN_CHECKS === 0 && heavy.usedMs() > time.endsAtMs)
    throw new Error('The grammar is slow.');
}

/** Writes Pygments-style HTML; text directly inside the innermost known scope gets that scope's class. */
export class ShortClassEmitter implements Emitter {
  readonly pieces: Piece[] = [];
  readonly #scopes: string[] = [];

  startScope(name: string): void {
    checkTime();
    this.#scopes.push(SHORT_CLASSES[name] ?? SHORT_CLASSES[name.split('.', 1)[0] ?? ''] ?? this.#scopes.at(-1) ?? '');
  }

  endScope(): void {
    this.#scopes.pop();
  }

  addText(text: string): void {
    if (text === '') return;
    checkTime();
    const cssClass = this.#scopes.at(-1) ?? '';
    const last = this.pieces.at(-1);
    if (last?.cssClass === cssClass) last.text += text;
    else this.pieces.push({ text, cssClass });
  }

  __addSublanguage(emitter: Emitter): void {
    if (emitter instanceof ShortClassEmitter) this.pieces.push(...emitter.pieces);
  }

  /** The highlighter calls these, although its type does not list them. */
  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  closeAllNodes(): void {
    this.#scopes.length = 0;
  }

  finalize(): void {}

  toHTML(): string {
    return htmlOf(this.pieces);
  }
}

const htmlOf = (pieces: readonly Piece[]): string =>
  pieces
    .map(({ text, cssClass }) =>
      cssClass === '' || text.trim() === '' ? escapeHtml(text) : `<span class="${cssClass}">${escapeHtml(text)}</span>`,
    )
    .join('');

/** Highlighted, escaped HTML; undefined for an unknown language, a slow text, and if no grammars are loaded. */
export function highlight(code: string, language: string): string | undefined {
  if (code.length > MAX_HIGHLIGHTED_LENGTH || LONG_LINE.test(code)) return undefined;
  const hljs = heavy.grammars;
  const grammar = grammarNames(language).find((name) => hljs?.getLanguage(name) !== undefined);
  if (hljs === undefined || grammar === undefined) return undefined;
  time.endsAtMs = heavy.usedMs() + MAX_MS;
  const { _emitter: emitter, value } = hljs.highlight(code, { language: grammar, ignoreIllegals: true });
  if (!(emitter instanceof ShortClassEmitter)) return value;
  if (emitter.pieces.map(({ text }) => text).join('') !== code) return undefined;
  const { name = '', keywords } = hljs.getLanguage(grammar) ?? {};
  const html = htmlOf(refined(emitter.pieces, { name, hasKeywords: keywords !== undefined }));
  return html.length > maxRefinedLength(code) ? value : html;
}
