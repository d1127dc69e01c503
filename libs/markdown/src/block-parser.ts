import type { Block } from './block.ts';
import type { RenderRun } from './context.ts';
import { spend } from './steps.ts';

/** The context of the blocks being parsed. */
export type State = 'list' | 'looselist' | 'blockquote' | 'detabbed';

/**
 * Takes the next piece of text, and adds the resulting blocks to `parent`. It puts unused text back at the end of
 * `rest`, which holds the remaining pieces in reverse order. Returns false if the rule does not apply.
 */
export type BlockRule = (parser: BlockParser, parent: Block, content: string, rest: string[]) => boolean;

export interface BlockRules {
  /** All rules, in order of precedence. */
  all: readonly BlockRule[];
  /** The rules that apply at the maximum nesting. */
  deepest: readonly BlockRule[];
}

/** Below the maximum nesting of quotes and lists the rest is plain text: the work is bounded, and no text is lost. */
const MAX_DEPTH = 40;

/** Blank lines separate pieces of text; the first rule that applies takes a piece. */
export class BlockParser {
  readonly #run: RenderRun;
  readonly #rules: BlockRules;
  readonly #states: State[] = [];
  #depth = 0;

  constructor(run: RenderRun, rules: BlockRules) {
    this.#run = run;
    this.#rules = rules;
  }

  isIn(state: State): boolean {
    return this.#states.at(-1) === state;
  }

  within(state: State, parse: () => void): void {
    this.#states.push(state);
    parse();
    this.#states.pop();
  }

  parseText(parent: Block, content: string): void {
    this.parse(parent, content.split('\n\n'));
  }

  parse(parent: Block, pieces: readonly string[]): void {
    const { all, deepest } = this.#rules;
    const rest = [...pieces].reverse();
    this.#depth++;
    for (let content = rest.pop(); content !== undefined; content = rest.pop()) {
      spend(this.#run, all.length + content.length);
      const rules = this.#depth > MAX_DEPTH ? deepest : all;
      for (const apply of rules) if (apply(this, parent, content, rest)) break;
    }
    this.#depth--;
  }
}
