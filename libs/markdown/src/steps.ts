/** A rendering exceeded its number of steps. */
export class StepLimit extends Error {}

/**
 * Counts the parser's work, and ends it with `StepLimit`. Each attempt of a rule costs the length of the text that it
 * reads.
 */
export function spend(run: { stepsLeft: number }, steps: number): void {
  run.stepsLeft -= steps;
  if (run.stepsLeft < 0) throw new StepLimit('the content takes too many steps');
}
