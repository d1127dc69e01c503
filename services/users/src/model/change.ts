import { type BodyOf, eventForUsers, type LogEvent, type NameForUsers } from '@natter/contracts';
import { readVersions, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import { authorize, type WriteContext } from '@natter/service-kit';
import { actorNow } from './actors.ts';
import { permitsOf } from './permits.ts';

/**
 * A change of groups, memberships or roles. It depends on all earlier changes of groups, so such changes of a realm are
 * serialized. The actor is read and authorized again when it is their turn, because an earlier change may have affected
 * their own groups. `holder` is the actor as read in the unit; the commit fails if it has changed since.
 */
export function changeOfGroups<R>(
  { operation, actor, write }: WriteContext,
  decide: (work: Work, holder: Holder & { isBot: boolean }) => Promise<R>,
): Promise<R> {
  let now = actor;
  return write((work) => decide(work, now), {
    isQueued: true,
    expected: async (work) => {
      now = await actorNow(work, actor);
      const { basis } = await authorize(operation, now, permitsOf(work));
      await expectGroupVersions(work);
      return basis;
    },
  });
}

/** Expects that memberships and group permissions do not change from here to the commit, except by the unit itself. */
export async function expectGroupVersions(work: Work): Promise<void> {
  work.expectVersions(await readVersions(work, work.realmId, ['groups', 'group-contents']));
}

/** An event for one user's queues. */
export const toSelf = <N extends NameForUsers>(userId: number, name: N, body: BodyOf<N>): LogEvent<N> =>
  eventForUsers(name, body, [userId]);
