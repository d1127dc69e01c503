import { type Claim, KeyTaken } from './claim.ts';
import { untilDeadline } from './deadline.ts';

type OnePerKey = <R>(realmId: number, claim: Claim | undefined, write: () => Promise<R>) => Promise<R>;

/**
 * Runs one of the writes with the same key at a time. If it succeeds, the writes that waited for it are refused with
 * `KeyTaken`; otherwise the next one runs. So a repeated request costs no transaction.
 */
export function createOnePerKey(): OnePerKey {
  /** By key, the result of its running write: whether it succeeded. */
  const running = new Map<string, Promise<boolean>>();
  return async (realmId, claim, write) => {
    if (!claim) return write();
    const key = `${realmId} ${claim.userId} ${claim.key}`;
    for (let other = running.get(key); other; other = running.get(key))
      if (await untilDeadline(other)) throw new KeyTaken();
    const own = write();
    running.set(
      key,
      own.then(
        () => true,
        () => false,
      ),
    );
    try {
      return await own;
    } finally {
      running.delete(key);
    }
  };
}
