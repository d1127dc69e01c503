import { type Actor, badRequest, catchUpMessaging, type MutedUser, socialOperations, totals } from '@natter/contracts';
import { type Executor, requireRoom, sql, type Work } from '@natter/database';
import { type Bus, type Handlers, handleWrite, type UserContext, type WriteContext } from '@natter/service-kit';
import { z } from 'zod';
import { toSelf } from '../model/change.ts';
import { lockAccount, noSuchUser } from '../model/find-account.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';
import { hiddenFrom } from '../model/user-visibility.ts';

const mutedRow = z.object({ id: z.number(), muted_at: z.date() });
/** How long an answer waits for messaging. */
const longestWaitMs = 5_000;

/** Messaging consumes the event and marks messages of the muted user as read. */
export function mutedUserHandlers(bus: Bus): Handlers {
  return [
    handleWrite(socialOperations.muteUser, (context, params) =>
      change(bus, context, async (work) => {
        const { userId } = context.actor;
        const { muted_user_id } = params;
        if (muted_user_id === userId) throw badRequest('Cannot mute self');
        await lockAccount(work, userId);
        await requireKnown(work, context.actor, muted_user_id);
        const added = await work.run(sql.unsafe`
          INSERT INTO users.muted_user (user_id, muted_user_id) VALUES (${userId}, ${muted_user_id}) ON CONFLICT DO NOTHING`);
        if (added === 0) throw badRequest('User already muted');
        await requireRoom(work, totals.mutedUsers, sql.fragment`users.muted_user WHERE user_id = ${userId}`);
        return announce(work, userId);
      }),
    ),

    handleWrite(socialOperations.unmuteUser, (context, params) =>
      change(bus, context, async (work) => {
        const { userId } = context.actor;
        await lockAccount(work, userId);
        const removed = await work.run(
          sql.unsafe`DELETE FROM users.muted_user WHERE user_id = ${userId} AND muted_user_id = ${params.muted_user_id}`,
        );
        if (removed === 0) {
          await requireKnown(work, context.actor, params.muted_user_id);
          throw badRequest('User is not muted');
        }
        return announce(work, userId);
      }),
    ),
  ];
}

/** A message that is sent after the answer is read on arrival, or no longer: messaging has applied the change by then. */
async function change<R>(bus: Bus, context: WriteContext, write: (work: Work) => Promise<R>): Promise<R> {
  const answer = await context.write(write);
  await settled(bus, context);
  return answer;
}

/** The change is committed already, so an outage of messaging does not undo it; messaging applies it later. */
const settled = (bus: Bus, { meta, log }: UserContext): Promise<unknown> =>
  bus
    .call(catchUpMessaging, {}, { meta, timeoutMs: longestWaitMs })
    .catch((error: unknown) => log.warn({ err: error }, 'messaging did not apply a mute before its answer'));

/** Bots can be muted, including system bots. */
async function requireKnown(work: Work, actor: Actor, userId: number): Promise<void> {
  const found = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND id = ${userId}`);
  if (!found || (await hiddenFrom(work, work.realmId, actor)).has(userId)) throw noSuchUser();
}

/** The account is locked, so that the last announced list is the final one. */
async function announce(work: Work, userId: number): Promise<Record<string, never>> {
  const muted_users = await readMuted(work, userId);
  work.emit(toSelf(userId, 'muted_users', { muted_users }));
  return {};
}

async function readMuted(executor: Executor, userId: number): Promise<MutedUser[]> {
  const rows = await executor.any(sql.type(mutedRow)`
    SELECT muted_user_id AS id, muted_at FROM users.muted_user WHERE user_id = ${userId} ORDER BY muted_at, muted_user_id`);
  return rows.map(({ id, muted_at }) => ({ id, timestamp: Math.floor(muted_at.getTime() / 1000) }));
}

export const mutedUsersSnapshot: SnapshotPart = {
  types: ['muted_users'],
  read: async (executor, { viewer }) => ({
    muted_users: await readMuted(executor, viewer.userId),
  }),
  spectators: { muted_users: [] },
};
