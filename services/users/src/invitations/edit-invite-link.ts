import { badRequest, type ChatError, invitationOperations, isAdministrator, refusedAs } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Bus, type Handlers, handleWrite, type Owner, type WriteContext } from '@natter/service-kit';
import { z } from 'zod';
import { findAll, toActor } from '../model/actors.ts';
import { conveyedRights } from '../model/conveyed-rights.ts';
import type { InvitationRow } from '../model/invitation-row.ts';
import { readRealm } from '../model/read-realm.ts';
import { changeInvite } from './change-invite.ts';
import { requireGroups, requireRank } from './send-invites.ts';

/** A link grants by the rights of its creator. An edit is checked against the rights of the editor and of the creator. */
export function editInviteLinkHandlers(owner: Owner, bus: Bus): Handlers {
  return [
    handleWrite(invitationOperations.editInviteLink, async (context, { invite_id, ...params }) => {
      const { stream_ids = null, group_ids = null, include_realm_default_subscriptions: defaults = null } = params;
      const { invite_as, invite_expires_in_minutes: minutes } = params;
      if (stream_ids !== null && stream_ids.length > 0)
        await requireChannels({ owner, bus }, context, invite_id, stream_ids);
      return changeInvite(context, invite_id, true, async (work, row, holder) => {
        if (invite_as !== undefined) requireRank(holder, invite_as);
        if (group_ids !== null) await requireGroups(work, holder, group_ids);
        const welcome = isAdministrator(holder) ? params.welcome_message_custom_text : undefined;
        const after = {
          ...row,
          invite_as: invite_as ?? row.invite_as,
          group_ids: group_ids ?? row.group_ids,
          welcome_text: welcome === undefined ? row.welcome_text : welcome,
        };
        await requireConveyed(work, after, { groupIds: group_ids ?? [], welcome });
        const end =
          minutes === undefined ? sql.fragment`expires_at` : sql.fragment`now() + make_interval(mins => ${minutes})`;
        await work.run(sql.unsafe`
          UPDATE users.invitation SET invite_as = ${after.invite_as}, welcome_text = ${after.welcome_text}, expires_at = ${end},
            channel_ids = coalesce(${stream_ids && sql.array(stream_ids, 'int4')}, channel_ids),
            group_ids = ${sql.array(after.group_ids, 'int4')}, default_channels = coalesce(${defaults}, default_channels)
          WHERE id = ${row.id}`);
      });
    }),
  ];
}

async function requireChannels(
  { owner: { database }, bus }: { owner: Owner; bus: Bus },
  { actor, meta }: WriteContext,
  id: number,
  stream_ids: number[],
): Promise<void> {
  await bus.call(invitationOperations.checkInvitedChannels, { stream_ids }, { actor, meta });
  // Users who may not change the link learn nothing about its creator.
  if (!isAdministrator(actor)) return;
  const link = await database.maybeOne(sql.type(z.object({ inviter_id: z.number() }))`
    SELECT inviter_id FROM users.invitation WHERE realm_id = ${meta.realmId} AND id = ${id} AND email IS NULL`);
  const asked = { realm_id: meta.realmId, user_id: link?.inviter_id ?? 0 };
  const [found] = await findAll(database, [asked]);
  // The write refuses a link that is unknown or revoked.
  if (!found?.is_active) return;
  const asCreator = { actor: toActor(asked, found, notGranted), meta };
  await bus.call(invitationOperations.checkInvitedChannels, { stream_ids }, asCreator).catch(refusedAs(notGranted));
}

/** Refuses an edit after which the link would create no account, or would not grant what the edit names. */
async function requireConveyed(
  work: Work,
  after: InvitationRow,
  named: { groupIds: readonly number[]; welcome: string | null | undefined },
): Promise<void> {
  const conveyed = await conveyedRights(work, await readRealm(work, work.realmId), after);
  if (!conveyed || named.groupIds.some((id) => !conveyed.groupIds.includes(id))) throw notGranted();
  if (typeof named.welcome === 'string' && conveyed.welcomeText !== named.welcome) throw notGranted();
}

const notGranted = (): ChatError => badRequest('The user who created this link may not grant this.');
