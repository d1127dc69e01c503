import { unavailable } from '@natter/contracts';
import { untilDeadline, withDeadline, withoutDeadline } from './deadline.ts';

const maxTogether = 100;
/** Of those that no longer fit nobody is asked about; nor of those whose asker has long given up. */
const maxWaiting = 10_000;
const maxWaitMs = 10_000;
/** A batch that takes longer no longer holds up the next one: its backend may be stuck. */
const slowMs = 250;
const maxUnderWay = 4;
/** A batch has a deadline of its own: it belongs to no single request. */
const batchMs = 5_000;

/**
 * Makes one statement of many look-ups of a kind: those that come in one turn of the loop, or while enough are under way, are
 * made together. `lookUp` answers in the order in which it was asked.
 */
export function together<Q, A>(lookUp: (asked: Q[]) => Promise<readonly A[]>): (asked: Q) => Promise<A> {
  const waiting: { asked: Q; at: number; resolve: (answer: A) => void; reject: (error: unknown) => void }[] = [];
  let underWay = 0;
  let slow = 0;
  let isScheduled = false;

  const start = (): void => {
    isScheduled = false;
    const oldest = Date.now() - maxWaitMs;
    while (waiting[0] && waiting[0].at < oldest) waiting.shift()?.reject(unavailable(new Error('waited too long')));
    while (waiting.length > 0 && mayStart()) {
      underWay++;
      void run(waiting.splice(0, maxTogether));
    }
  };
  const mayStart = (): boolean => underWay === slow && underWay < maxUnderWay;
  const schedule = (): void => {
    if (isScheduled || !mayStart()) return;
    isScheduled = true;
    setImmediate(start);
  };
  const run = async (batch: typeof waiting): Promise<void> => {
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      slow++;
      schedule();
    }, slowMs);
    try {
      const asked = batch.map((one) => one.asked);
      const answers = await withoutDeadline(() => withDeadline(batchMs, () => lookUp(asked)));
      if (answers.length !== batch.length) throw new Error(`${batch.length} look-ups had ${answers.length} answers`);
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as A);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      clearTimeout(timer);
      if (isSlow) slow--;
      underWay--;
      schedule();
    }
  };

  return (asked) =>
    untilDeadline(
      new Promise<A>((resolve, reject) => {
        if (waiting.length >= maxWaiting) return reject(unavailable(new Error('too many wait')));
        waiting.push({ asked, at: Date.now(), resolve, reject });
        schedule();
      }),
    );
}
