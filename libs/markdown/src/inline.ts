import type { RenderRun } from './context.ts';
import { type Node, raw, text, textOf } from './node.ts';
import { MARK_END, MARK_START } from './source.ts';
import { spend } from './steps.ts';

/**
 * Replaces recognized markup in the content by marks that represent nodes (`inline.mark`). `next`: the place of the rule
 * after it; the later rules process the text inside a node by `inline.parse(text, next)`.
 */
export type InlineRule = (content: string, inline: Inline, next: number) => string;

const MARK = new RegExp(`${MARK_START}(\\d+)${MARK_END}`);
const ALL_MARKS = new RegExp(MARK, 'g');
const ONLY_MARK = new RegExp(`^${MARK.source}$`);

/** Parses the inline markup of one rendering. A rule does not apply to text that an earlier rule replaced. */
export class Inline {
  readonly run: RenderRun;
  readonly #rules: readonly InlineRule[];
  readonly #marked: { nodes: Node[]; source: string; isBlock: boolean; isPart?: boolean }[] = [];

  constructor(run: RenderRun, rules: readonly InlineRule[]) {
    this.run = run;
    this.#rules = rules;
  }

  /** The nodes of a text, by the rules from the place `first` on. */
  parse(content: string, first = 0): Node[] {
    if (content === '') return [];
    let current = content;
    for (let i = first; i < this.#rules.length; i++) {
      spend(this.run, 1 + current.length);
      current = this.#rules[i]?.(current, this, i + 1) ?? current;
    }
    return this.expand(current);
  }

  /** A mark that represents the nodes. `source` is shown where only text is possible. */
  mark(nodes: Node[], source: string): string {
    this.#marked.push({ nodes, source, isBlock: false });
    return `${MARK_START}${this.#marked.length - 1}${MARK_END}`;
  }

  /** A mark of HTML outside paragraphs: a whole block, or the beginning or end of one. */
  markBlock(html: string, isPart = false): string {
    this.#marked.push({ nodes: [raw(html)], source: '', isBlock: true, isPart });
    return `${MARK_START}${this.#marked.length - 1}${MARK_END}`;
  }

  /**
   * The nodes of a paragraph that consists of one marked block. A block at the end of a quote has a line break after it
   * and stays in its paragraph, as in the reference; a part of a block cannot, because its tags would not nest.
   */
  blockIn(content: string): Node[] | undefined {
    const found = this.#marked[Number(ONLY_MARK.exec(content.trim())?.[1] ?? -1)];
    return found?.isBlock && (found.isPart || content === content.trim()) ? found.nodes : undefined;
  }

  expand(content: string): Node[] {
    if (!content.includes(MARK_START)) return content === '' ? [] : [text(content)];
    return content
      .split(MARK)
      .flatMap((part, i): Node[] =>
        i % 2 === 1 ? (this.#marked[Number(part)]?.nodes ?? []) : part === '' ? [] : [text(part)],
      );
  }

  /** The content as typed, as far as it is known. */
  source(content: string): string {
    return content.includes(MARK_START)
      ? content.replace(ALL_MARKS, (_, number) => this.source(this.#marked[Number(number)]?.source ?? ''))
      : content;
  }

  /** The visible text of the content. */
  shown(content: string): string {
    return textOf(this.expand(content));
  }
}
