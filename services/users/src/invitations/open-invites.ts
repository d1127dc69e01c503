import { badRequest, invitationOperations, isAdministrator, roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import { type Handlers, handle, type Owner, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import type { KeySeal } from '../authentication/key-seal.ts';
import { change } from '../change.ts';
import { holderOf } from '../groups/holder.ts';
import { readRealm } from '../realm/read-realm.ts';
import { newInvitationKey, storedKey } from './invitation-key.ts';
import type { SendInvitation } from './invitation-mail.ts';
import {
  announceInvites,
  type InvitationRow,
  invitationColumns,
  invitationRow,
  isOpen,
  toInvitation,
} from './invitation-row.ts';

const anyRow = invitationRow.extend({ is_open: z.boolean() });

export function openInviteHandlers(owner: Owner, seal: KeySeal, send: SendInvitation): Handlers {
  const changeInvite = (
    context: UserContext,
    id: number,
    isMultiuse: boolean,
    write: (work: Work, row: InvitationRow) => Promise<void>,
  ): Promise<Record<string, never>> =>
    change(owner, context, async (work) => {
      const holder = await holderOf(work, context.actor.userId);
      const row = await work.maybeOne(sql.type(anyRow)`
        SELECT ${invitationColumns}, ${isOpen} AS is_open FROM users.invitation
        WHERE realm_id = ${work.realmId} AND id = ${id} AND (email IS NULL) = ${isMultiuse} AND link_id IS NULL FOR UPDATE`);
      if (!row || !mayChange(holder, row)) throw badRequest('No such invitation');
      if (!row.is_open) throw badRequest('Invitation has already been revoked');
      if (row.invite_as === roles.owner && holder.role !== roles.owner)
        throw badRequest('Must be an organization owner');
      await write(work, row);
      await announceInvites(work, [row.inviter_id]);
      return {};
    });
  const close = async (work: Work, { id }: InvitationRow): Promise<void> => {
    await work.run(sql.unsafe`UPDATE users.invitation SET is_closed = true WHERE id = ${id}`);
  };
  return [
    handle(invitationOperations.getInvites, async ({ actor }) => {
      if (actor.isBot) throw badRequest('This endpoint does not accept bot requests.');
      const holder = await holderOf(owner.database, actor.userId);
      const own = isAdministrator(holder) ? sql.fragment`` : sql.fragment`AND inviter_id = ${actor.userId}`;
      const rows = await owner.database.any(sql.type(invitationRow)`
        SELECT ${invitationColumns} FROM users.invitation WHERE realm_id = ${actor.realmId} AND link_id IS NULL AND ${isOpen} ${own} ORDER BY id`);
      const { url } = await readRealm(owner.database, actor.realmId);
      return { invites: rows.map((row) => toInvitation(row, holder, url, seal)) };
    }),

    handle(invitationOperations.revokeInvite, (context, { invite_id }) =>
      changeInvite(context, invite_id, false, close),
    ),

    handle(invitationOperations.revokeInviteLink, (context, { invite_id }) =>
      changeInvite(context, invite_id, true, close),
    ),

    handle(invitationOperations.resendInvite, async (context, { invite_id }) => {
      const key = newInvitationKey();
      let address = '';
      const answer = await changeInvite(context, invite_id, false, async (work, { id, email }) => {
        address = email ?? '';
        await send.count(work, [email ?? ''], context.actor.userId);
        // As long again as it was to last; the link that was mailed before ends.
        await work.run(
          sql.unsafe`UPDATE users.invitation SET key = ${storedKey(key)}, created_at = now(), expires_at = now() + (expires_at - created_at) WHERE id = ${id}`,
        );
      });
      await send(context, address, key);
      return answer;
    }),
  ];
}

const mayChange = (holder: Holder, row: InvitationRow): boolean =>
  row.inviter_id === holder.userId || isAdministrator(holder);
