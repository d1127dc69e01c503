import type { Work } from '@natter/database';

const withRealm = new WeakSet<Work>();
const withOthers = new WeakSet<Work>();

/**
 * A unit locks the realm first, then accounts and profile fields. Events about users lock the realm at the end of the unit,
 * so a unit that emits them locks it at its beginning too. Units with different orders would wait for each other.
 */
export function noteRealmLock(work: Work): void {
  if (withOthers.has(work) && !withRealm.has(work))
    throw new Error('The realm must be locked before accounts and fields');
  withRealm.add(work);
}

/** Notes that the unit has locked an account or the profile fields, after which it must not lock the realm. */
export const noteOtherLock = (work: Work): void => void withOthers.add(work);
