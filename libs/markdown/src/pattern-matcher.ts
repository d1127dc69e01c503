import type { Program } from './pattern-compiler.ts';

export interface PatternMatch {
  start: number;
  end: number;
  groups: Map<string, string>;
}

/** Undoes a capture when the search backs out of it. */
interface Restore {
  slot: number;
  position: number | undefined;
}

type Pending = { pc: number; at: number } | Restore;

const BEFORE = /[\s'"(,:<]/;
const AFTER = /[\p{L}\p{N}]/u;

/**
 * The leftmost match that stands alone: after a space or opening punctuation, before anything but a letter or digit.
 * A branch is tried at most once per position, so the work is bounded by pattern size times text length, and the
 * budget bounds it further; out of budget means no match.
 */
export function search(
  program: Program,
  chars: string[],
  from: number,
  budget: { steps: number },
): PatternMatch | undefined {
  const visited = new Set<number>();
  for (let start = from; start < chars.length; start++) {
    if (start > 0 && !BEFORE.test(chars[start - 1] ?? '')) continue;
    const slots = matchAt(program, chars, start, visited, budget);
    if (slots !== undefined) return { start, end: slots[1] ?? start, groups: named(program, chars, slots) };
    if (budget.steps <= 0) return undefined;
  }
  return undefined;
}

function matchAt(
  program: Program,
  chars: string[],
  start: number,
  visited: Set<number>,
  budget: { steps: number },
): (number | undefined)[] | undefined {
  const slots: (number | undefined)[] = [start];
  const pending: Pending[] = [{ pc: 0, at: start }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('slot' in next) {
      slots[next.slot] = next.position;
      continue;
    }
    let { pc, at } = next;
    for (;;) {
      if (--budget.steps <= 0) return undefined;
      const step = program.steps[pc];
      if (step === undefined) break;
      if (step.op === 'match') {
        if (AFTER.test(chars[at] ?? '')) break;
        slots[1] = at;
        return slots;
      }
      if (step.op === 'char') {
        const ch = chars[at];
        if (ch === undefined || !step.test(ch)) break;
        at++;
        pc++;
      } else if (step.op === 'assert') {
        if (!step.test(chars, at)) break;
        pc++;
      } else if (step.op === 'save') {
        pending.push({ slot: step.slot, position: slots[step.slot] });
        slots[step.slot] = at;
        pc++;
      } else if (step.op === 'jump') pc = step.to;
      else {
        const key = pc * (chars.length + 1) + at;
        if (visited.has(key)) break;
        visited.add(key);
        pending.push({ pc: step.second, at });
        pc = step.first;
      }
    }
  }
  return undefined;
}

function named(program: Program, chars: string[], slots: (number | undefined)[]): Map<string, string> {
  const groups = new Map<string, string>();
  for (const [name, group] of program.groups) {
    const [start, end] = [slots[group * 2], slots[group * 2 + 1]];
    if (start !== undefined && end !== undefined) groups.set(name, chars.slice(start, end).join(''));
  }
  return groups;
}
