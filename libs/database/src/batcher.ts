import { unavailable } from '@natter/contracts';
import { currentDeadline, type Deadline, untilDeadline, withDeadline, withoutDeadline } from './deadline.ts';
import { sharedPatience } from './patience.ts';
import { asTenant, background } from './turns.ts';

const maxBatch = 100;
/** If more look-ups wait, further ones are refused. Look-ups that waited for longer than `maxWaitMs` are refused too. */
const maxWaiting = 10_000;
const maxWaitMs = 10_000;
/** If a batch takes longer than this, the next one does not wait for it: its backend may be stuck. */
const slowMs = 250;
const maxUnderWay = 4;
/**
 * Deadline of a batch, whose backend may be stuck. It does not depend on the requests, because a batch serves several.
 * Look-ups whose requests have more time are tried again.
 */
const batchMs = 5_000;

interface LookUp<Q, A> {
  asked: Q;
  at: number;
  /** The deadline of the request for which the look-up is made. */
  deadline: Deadline | undefined;
  resolve: (answer: A) => void;
  reject: (error: unknown) => void;
}

/**
 * Joins look-ups of one kind into one statement: those of one turn of the event loop, or those that arrive while enough
 * batches are running. `lookUp` must answer in the order of its argument.
 */
export function createBatcher<Q, A>(lookUp: (asked: Q[]) => Promise<readonly A[]>): (asked: Q) => Promise<A> {
  const waiting: LookUp<Q, A>[] = [];
  let underWay = 0;
  let slow = 0;
  let isScheduled = false;

  const start = (): void => {
    isScheduled = false;
    const oldest = performance.now() - maxWaitMs;
    while (waiting[0] && (waiting[0].at < oldest || waiting[0].deadline?.hasEnded))
      waiting.shift()?.reject(unavailable(new Error('waited too long')));
    while (waiting.length > 0 && mayStart()) {
      underWay++;
      void run(waiting.splice(0, maxBatch));
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
    let hasEnded = (): boolean => false;
    try {
      const asked = batch.map((one) => one.asked);
      const patience = sharedPatience(batch.flatMap(({ deadline }) => deadline?.patience ?? []));
      const work = (deadline: Deadline): Promise<readonly A[]> => {
        hasEnded = () => deadline.hasEnded;
        return lookUp(asked);
      };
      // A batch may serve several realms, so no realm is charged for its connection.
      const answers = await asTenant(background, () => withoutDeadline(() => withDeadline(batchMs, work, patience)));
      if (answers.length !== batch.length) throw new Error(`${batch.length} look-ups had ${answers.length} answers`);
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as A);
    } catch (error) {
      const again = hasEnded() ? batch.filter(({ deadline }) => deadline && !deadline.hasEnded) : [];
      for (const one of batch) if (!again.includes(one)) one.reject(error);
      waiting.push(...again.map((one) => ({ ...one, at: performance.now() })));
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
        if (waiting.length >= maxWaiting) return reject(unavailable(new Error('too many look-ups wait')));
        waiting.push({ asked, at: performance.now(), deadline: currentDeadline(), resolve, reject });
        schedule();
      }),
    );
}
