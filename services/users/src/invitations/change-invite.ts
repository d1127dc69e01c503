import { badRequest, isAdministrator, roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import type { WriteContext } from '@natter/service-kit';
import { z } from 'zod';
import { holderOf } from '../model/holder.ts';
import {
  announceInvites,
  type InvitationRow,
  invitationColumns,
  invitationRow,
  isOpen,
} from '../model/invitation-row.ts';

const anyRow = invitationRow.extend({ is_open: z.boolean() });

/** Changes an open invitation that the caller sent or administers, and announces that the list changed. */
export const changeInvite = (
  context: WriteContext,
  id: number,
  isMultiuse: boolean,
  write: (work: Work, row: InvitationRow, holder: Holder) => Promise<void>,
): Promise<Record<string, never>> =>
  context.write(async (work) => {
    const holder = await holderOf(work, context.actor.userId);
    const row = await work.maybeOne(sql.type(anyRow)`
      SELECT ${invitationColumns}, ${isOpen} AS is_open FROM users.invitation
      WHERE realm_id = ${work.realmId} AND id = ${id} AND (email IS NULL) = ${isMultiuse} AND link_id IS NULL FOR UPDATE`);
    if (!row || !mayChange(holder, row)) throw badRequest('No such invitation');
    if (!row.is_open) throw badRequest('Invitation has already been revoked');
    if (row.invite_as === roles.owner && holder.role !== roles.owner) throw badRequest('Must be an organization owner');
    await write(work, row, holder);
    await announceInvites(work, [row.inviter_id]);
    return {};
  });

const mayChange = (holder: Holder, row: InvitationRow): boolean =>
  row.inviter_id === holder.userId || isAdministrator(holder);
