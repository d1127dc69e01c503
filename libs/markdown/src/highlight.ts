import type { Emitter } from 'highlight.js';
import MarkdownIt from 'markdown-it';
import { grammarName } from './code-language.ts';
import { heavy } from './heavy.ts';

const { escapeHtml } = new MarkdownIt().utils;

/** Grammars backtrack; longer blocks stay plain so that the time stays bounded. */
const MAX_HIGHLIGHTED_LENGTH = 10_000;

/** highlight.js scopes as the short classes of Pygments, which every client has a stylesheet for. */
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
  params: 'n',
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

/** Writes Pygments-style HTML; text directly inside the innermost known scope gets that scope's class. */
export class ShortClassEmitter implements Emitter {
  readonly pieces: { text: string; cssClass: string }[] = [];
  readonly #scopes: string[] = [];

  startScope(name: string): void {
    this.#scopes.push(SHORT_CLASSES[name] ?? SHORT_CLASSES[name.split('.', 1)[0] ?? ''] ?? this.#scopes.at(-1) ?? '');
  }

  endScope(): void {
    this.#scopes.pop();
  }

  addText(text: string): void {
    if (text === '') return;
    const cssClass = this.#scopes.at(-1) ?? '';
    const last = this.pieces.at(-1);
    if (last?.cssClass === cssClass) last.text += text;
    else this.pieces.push({ text, cssClass });
  }

  __addSublanguage(emitter: Emitter): void {
    if (emitter instanceof ShortClassEmitter) this.pieces.push(...emitter.pieces);
  }

  /** The highlighter calls these, though its type does not list them. */
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
    return this.pieces
      .map(({ text, cssClass }) =>
        cssClass === '' || text.trim() === ''
          ? escapeHtml(text)
          : `<span class="${cssClass}">${escapeHtml(text)}</span>`,
      )
      .join('');
  }
}

/** Highlighted, escaped HTML; undefined for an unknown language, and where no grammars are loaded. */
export function highlight(code: string, language: string): string | undefined {
  const grammar = grammarName(language) ?? language.toLowerCase();
  if (code.length > MAX_HIGHLIGHTED_LENGTH) return undefined;
  const hljs = heavy.grammars;
  if (hljs?.getLanguage(grammar) === undefined) return undefined;
  return hljs.highlight(code, { language: grammar, ignoreIllegals: true }).value;
}
