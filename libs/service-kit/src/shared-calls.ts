import { untilDeadline } from '@natter/database';
import { apartFromRequest } from './beside-write.ts';

/**
 * Returns a function that runs work, or joins the run of the same key that is going on. The work belongs to none of the
 * requests that wait for it: each of them waits until its own deadline, and none ends it for the others.
 */
export function createSharedCalls<K, R>(): (key: K, work: () => Promise<R>) => Promise<R> {
  const running = new Map<K, Promise<R>>();
  return (key, work) => {
    let call = running.get(key);
    if (!call) {
      call = apartFromRequest(work).finally(() => running.delete(key));
      running.set(key, call);
    }
    return untilDeadline(call);
  };
}
