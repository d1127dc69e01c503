/** Returns for each UTF-16 unit of a text whether it is part of one of the runs: 1 or 0. */
export type RunFinder = (text: string) => Uint8Array;

/** A beginning of runs. The automaton is in this state after a text whose end it is, if no longer end is such a beginning. */
interface State {
  next: Map<number, State>;
  /** The longest shorter end of this beginning that is a beginning too. The root has none. */
  shorter: State | undefined;
  /** Length of the longest run that ends here; 0 if none does. */
  longest: number;
}

/**
 * The automaton of Aho and Corasick. A text of n units takes at most 2n look-ups, however many runs there are: each unit makes
 * the state at most one longer, and each further look-up makes it shorter.
 */
export function createRunFinder(runs: readonly string[]): RunFinder {
  const root: State = { next: new Map(), shorter: undefined, longest: 0 };
  for (const run of runs) add(root, run);
  // All shorter states are complete before a longer one is.
  const states = [root];
  for (const state of states)
    for (const [unit, next] of state.next) {
      next.shorter = after(state.shorter, unit) ?? root;
      next.longest ||= next.shorter.longest;
      states.push(next);
    }
  return (text) => {
    const longest = new Uint32Array(text.length);
    let state = root;
    for (let at = 0; at < text.length; at++) {
      state = after(state, text.charCodeAt(at)) ?? root;
      longest[at] = state.longest;
    }
    return covered(longest);
  };
}

function add(root: State, run: string): void {
  let state = root;
  for (let at = 0; at < run.length; at++) {
    const unit = run.charCodeAt(at);
    const next = state.next.get(unit) ?? { next: new Map(), shorter: undefined, longest: 0 };
    state.next.set(unit, next);
    state = next;
  }
  state.longest = run.length;
}

function after(state: State | undefined, unit: number): State | undefined {
  for (let from = state; from; from = from.shorter) {
    const next = from.next.get(unit);
    if (next) return next;
  }
  return undefined;
}

/** `longest`: for each unit, the length of the longest run that ends with it. */
function covered(longest: Uint32Array): Uint8Array {
  const isCovered = new Uint8Array(longest.length);
  let from = longest.length;
  for (let at = longest.length - 1; at >= 0; at--) {
    from = Math.min(from, at + 1 - (longest[at] ?? 0));
    if (from <= at) isCovered[at] = 1;
  }
  return isCovered;
}
