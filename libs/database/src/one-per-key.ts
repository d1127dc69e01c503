import { type Claim, KeyTaken } from './claim.ts';
import { untilDeadline } from './deadline.ts';

type OnePerKey = <R>(realmId: number, claim: Claim | undefined, write: () => Promise<R>) => Promise<R>;

/**
 * Of writes with the same key, lets one run at a time. If it succeeds, those that waited are refused with `KeyTaken`;
 * otherwise the next one runs. Thus a repeated request costs no transaction.
 */
export function createOnePerKey(): OnePerKey {
  /** The running write of each key: whether it succeeds. */
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
