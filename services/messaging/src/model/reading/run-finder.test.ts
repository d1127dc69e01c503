import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRunFinder } from './run-finder.ts';

/** Looks for each run from each place of the text. */
function foundByEach(runs: readonly string[], text: string): number[] {
  const isFound = new Array<number>(text.length).fill(0);
  for (const run of runs)
    for (let at = text.indexOf(run); at >= 0; at = text.indexOf(run, at + 1)) isFound.fill(1, at, at + run.length);
  return isFound;
}

/** With few different units, runs contain and overlap each other. */
const textOf = (units: string[], size: { minLength?: number; maxLength: number }) =>
  fc.array(fc.constantFrom(...units), size).map((found) => found.join(''));

test.each([[['一', '二']], [['一', '二', '三', '𠮷', '𠮸']], [['a', '\ud842', '\udfb7']]])(
  'of the units %j exactly those of the runs are found',
  (units) => {
    const someRuns = fc.array(textOf(units, { minLength: 1, maxLength: 6 }), { maxLength: 8 });
    fc.assert(
      fc.property(someRuns, textOf(units, { maxLength: 40 }), (runs, text) => {
        expect([...createRunFinder(runs)(text)]).toEqual(foundByEach(runs, text));
      }),
      { numRuns: 1_000 },
    );
  },
);
