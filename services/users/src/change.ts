import { idSet, type LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Owner, UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { actorNow } from './authentication/authentication.ts';

type Change = <R>(owner: Owner, context: UserContext, write: (work: Work) => Promise<R>) => Promise<R>;

/** A change that the caller asked for: one unit of work, on what their rights rest on, whose result is the answer. */
export const change: Change = ({ unitOfWork }, { actor, claim }, write) =>
  unitOfWork({ realmId: actor.realmId, schema: 'users', claim }, async (work) => {
    work.restOn(actor.basis);
    return write(work);
  });

/**
 * A change of groups, of who is in them, or of roles. What it reads of groups and tells of them fits the changes before it, so such
 * changes of a realm are made one after the other. The caller is asked for anew when it is their turn: the change before may
 * have been of their own groups.
 */
export const changeOfGroups: Change = ({ unitOfWork }, { actor, claim }, write) =>
  unitOfWork({ realmId: actor.realmId, schema: 'users', claim, isQueued: true }, async (work) => {
    work.restOn((await actorNow(work, actor)).basis);
    await restOnGroups(work);
    return write(work);
  });

const versionRow = z.object({ key: z.string(), version: z.number() });

/** Who is in which group, and what groups permit, stands still from here to the commit, but for what the unit itself changes. */
export async function restOnGroups(work: Work): Promise<void> {
  const versions = await work.any(sql.type(versionRow)`
    SELECT key, version FROM log.versions(${work.realmId}, ARRAY['groups', 'group-contents'])`);
  work.restOn(Object.fromEntries(versions.map(({ key, version }) => [key, version])));
}

/** An event for one person's queues. */
export const toSelf = (
  userId: number,
  type: string,
  op: string | undefined,
  body: Record<string, unknown>,
): LogEvent => ({ type, ...(op === undefined ? {} : { op }), body, audience: { users: idSet([userId]) } });
