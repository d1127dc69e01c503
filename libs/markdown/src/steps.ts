import type { MarkdownIt } from 'markdown-it';
import { runOf } from './context.ts';

/** A rendering took more steps than it was allowed. */
export class StepLimit extends Error {}

/**
 * Counts what the parser does, and ends it with `StepLimit`. Each attempt of a rule costs the characters from its place to the end of its
 * text: no rule reads further, and none reads a character more than a constant number of times. Apply it after all rules.
 */
export function countSteps(md: MarkdownIt): void {
  countRules(md.block.ruler, (state, startLine) => spend(state.env, state.src.length - (state.bMarks[startLine] ?? 0)));
  countRules(md.inline.ruler, (state) => spend(state.env, state.posMax - state.pos));
}

function spend(env: Parameters<typeof runOf>[0], characters: number): void {
  const run = runOf(env);
  run.stepsLeft -= 1 + characters;
  if (run.stepsLeft < 0) throw new StepLimit('the content takes too many steps');
}

interface Ruler<Args extends unknown[], Result> {
  getRules(chain: string): ((...args: Args) => Result)[];
}

function countRules<Args extends unknown[], Result>(ruler: Ruler<Args, Result>, count: (...args: Args) => void): void {
  const chains = new Map<string, ((...args: Args) => Result)[]>();
  const rulesOf = ruler.getRules.bind(ruler);
  ruler.getRules = (chain) => {
    const known = chains.get(chain);
    if (known) return known;
    const counted = rulesOf(chain).map((rule) => (...args: Args) => {
      count(...args);
      return rule(...args);
    });
    chains.set(chain, counted);
    return counted;
  };
}
