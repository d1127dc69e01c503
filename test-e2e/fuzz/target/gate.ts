/** Requests pass concurrently; one that must be measured without other load passes alone. */
export interface Gate {
  together<T>(work: () => Promise<T>): Promise<T>;
  alone<T>(work: () => Promise<T>): Promise<T>;
}

export function createGate(): Gate {
  let passing = 0;
  /** Settles when the last exclusive request has passed. */
  let closed: Promise<void> = Promise.resolve();
  let waiting = 0;
  let emptied: (() => void) | undefined;

  return {
    async together(work) {
      while (waiting > 0) await closed;
      passing++;
      try {
        return await work();
      } finally {
        passing--;
        if (passing === 0) emptied?.();
      }
    },
    alone(work) {
      waiting++;
      const turn = closed.then(async () => {
        try {
          if (passing > 0)
            await new Promise<void>((resolve) => {
              emptied = resolve;
            });
          emptied = undefined;
          return await work();
        } finally {
          waiting--;
        }
      });
      closed = turn.then(
        () => undefined,
        () => undefined,
      );
      return turn;
    },
  };
}
