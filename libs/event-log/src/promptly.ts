/** Redis usually answers within this time. Work continues without the answer afterwards. */
export const promptMs = 250;

/** The answer of Redis, or an error if it takes longer than usual. The command may still be executed. */
export function promptly<T>(answer: Promise<T>, ms = promptMs): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = afterWaiting(ms, () => reject(new Error('Redis is slow')));
    answer.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/**
 * Calls `act` after a time, and after this process read what had arrived: an answer may be waiting because the event loop
 * was busy. The returned function stops it.
 */
export function afterWaiting(ms: number, act: () => void): () => void {
  let isStopped = false;
  const timer = setTimeout(() => setImmediate(() => isStopped || act()), ms);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
