const maxTogether = 100;
/** A slow look-up holds up only those that it was asked with. */
const maxUnderWay = 1;

/**
 * Makes one statement of many look-ups of a kind: those that come in one turn of the loop, or while enough are under way, are
 * made together. `lookUp` answers in the order in which it was asked.
 */
export function together<Q, A>(lookUp: (asked: Q[]) => Promise<readonly A[]>): (asked: Q) => Promise<A> {
  const waiting: { asked: Q; resolve: (answer: A) => void; reject: (error: unknown) => void }[] = [];
  let underWay = 0;
  let isScheduled = false;

  const start = (): void => {
    isScheduled = false;
    while (waiting.length > 0 && underWay < maxUnderWay) {
      underWay++;
      void run(waiting.splice(0, maxTogether));
    }
  };
  const schedule = (): void => {
    if (isScheduled || underWay >= maxUnderWay) return;
    isScheduled = true;
    setImmediate(start);
  };
  const run = async (batch: typeof waiting): Promise<void> => {
    try {
      const answers = await lookUp(batch.map(({ asked }) => asked));
      if (answers.length !== batch.length) throw new Error(`${batch.length} look-ups had ${answers.length} answers`);
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as A);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      underWay--;
      schedule();
    }
  };

  return (asked) =>
    new Promise((resolve, reject) => {
      waiting.push({ asked, resolve, reject });
      schedule();
    });
}
