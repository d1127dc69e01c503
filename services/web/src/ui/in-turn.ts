/** Runs work one at a time. Calls during a run share one more run, which begins after it. */
export function inTurn(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let isWaiting = false;
  return () => {
    if (isWaiting) return last;
    isWaiting = true;
    const run = (): Promise<void> => {
      isWaiting = false;
      return work();
    };
    last = last.then(run, run);
    return last;
  };
}
