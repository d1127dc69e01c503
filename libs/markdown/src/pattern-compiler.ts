import { type PatternNode, parsePattern } from './pattern-parser.ts';

type Step =
  | { op: 'char'; test: (ch: string) => boolean }
  | { op: 'assert'; test: (chars: string[], at: number) => boolean }
  | { op: 'save'; slot: number }
  | { op: 'jump'; to: number }
  | { op: 'split'; first: number; second: number }
  | { op: 'match' };

export interface Program {
  steps: Step[];
  /** Group numbers by name; group n is captured in slots 2n and 2n + 1. */
  groups: Map<string, number>;
}

const MAX_STEPS = 3000;

/** Undefined when the pattern is faulty, too large or outside of the dialect. */
export function compilePattern(pattern: string): Program | undefined {
  const parsed = parsePattern(pattern);
  if (parsed === undefined) return undefined;
  const steps: Step[] = [];
  if (!emit(parsed.node, steps)) return undefined;
  steps.push({ op: 'match' });
  return { steps, groups: parsed.groups };
}

/** False when the program grows too large. */
function emit(node: PatternNode, steps: Step[]): boolean {
  if (steps.length > MAX_STEPS) return false;
  switch (node.kind) {
    case 'char':
      steps.push({ op: 'char', test: node.test });
      return true;
    case 'assert':
      steps.push({ op: 'assert', test: node.test });
      return true;
    case 'sequence':
      return node.items.every((item) => emit(item, steps));
    case 'choice':
      return emitChoice(node.items, steps);
    case 'group': {
      if (node.number === undefined) return emit(node.item, steps);
      steps.push({ op: 'save', slot: node.number * 2 });
      if (!emit(node.item, steps)) return false;
      steps.push({ op: 'save', slot: node.number * 2 + 1 });
      return true;
    }
    case 'repeat':
      return emitRepeat(node, steps);
  }
}

function emitChoice(items: PatternNode[], steps: Step[]): boolean {
  const jumps: { op: 'jump'; to: number }[] = [];
  for (const [i, item] of items.entries()) {
    const split = { op: 'split' as const, first: steps.length + 1, second: 0 };
    const isLast = i === items.length - 1;
    if (!isLast) steps.push(split);
    if (!emit(item, steps)) return false;
    if (isLast) break;
    const jump = { op: 'jump' as const, to: 0 };
    jumps.push(jump);
    steps.push(jump);
    split.second = steps.length;
  }
  for (const jump of jumps) jump.to = steps.length;
  return true;
}

function emitRepeat(node: PatternNode & { kind: 'repeat' }, steps: Step[]): boolean {
  for (let i = 0; i < node.min; i++) if (!emit(node.item, steps)) return false;
  const exits: { op: 'split'; first: number; second: number }[] = [];
  const pushSplit = (): number => {
    const split = { op: 'split' as const, first: steps.length + 1, second: steps.length + 1 };
    exits.push(split);
    steps.push(split);
    return steps.length - 1;
  };
  if (node.max === undefined) {
    const loop = pushSplit();
    if (!emit(node.item, steps)) return false;
    steps.push({ op: 'jump', to: loop });
  } else {
    for (let i = node.min; i < node.max; i++) {
      pushSplit();
      if (!emit(node.item, steps)) return false;
    }
  }
  for (const exit of exits) {
    if (node.lazy) exit.first = steps.length;
    else exit.second = steps.length;
  }
  return true;
}
