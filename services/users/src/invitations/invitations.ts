import { invitationOperations, isAdministrator } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { holderOf } from '../model/holder.ts';
import { newInvitationKey, storedKey } from '../model/invitation-key.ts';
import type { SendInvitation } from '../model/invitation-mail.ts';
import { type InvitationRow, invitationColumns, invitationRow, isOpen, toInvitation } from '../model/invitation-row.ts';
import { readRealm } from '../model/read-realm.ts';
import { changeInvite } from './change-invite.ts';

export function openInviteHandlers(owner: Owner, seal: KeySeal, send: SendInvitation): Handlers {
  const close = async (work: Work, { id }: InvitationRow): Promise<void> => {
    await work.run(sql.unsafe`UPDATE users.invitation SET is_closed = true, closed_at = now() WHERE id = ${id}`);
  };
  return [
    handle(invitationOperations.getInvites, async ({ actor }) => {
      const holder = await holderOf(owner.database, actor.userId);
      const own = isAdministrator(holder) ? sql.fragment`` : sql.fragment`AND inviter_id = ${actor.userId}`;
      const rows = await owner.database.any(sql.type(invitationRow)`
        SELECT ${invitationColumns} FROM users.invitation WHERE realm_id = ${actor.realmId} AND link_id IS NULL AND ${isOpen} ${own} ORDER BY id`);
      const { url } = await readRealm(owner.database, actor.realmId);
      return { invites: rows.map((row) => toInvitation(row, holder, url, seal)) };
    }),

    handleWrite(invitationOperations.revokeInvite, (context, { invite_id }) =>
      changeInvite(context, invite_id, false, close),
    ),

    handleWrite(invitationOperations.revokeInviteLink, (context, { invite_id }) =>
      changeInvite(context, invite_id, true, close),
    ),

    handleWrite(invitationOperations.resendInvite, (context, { invite_id }) =>
      changeInvite(context, invite_id, false, async (work, { id, email, created_at, expires_at }) => {
        const key = newInvitationKey();
        const [to] = await send.count(work, [email ?? ''], { personId: context.actor.userId });
        const realm = await readRealm(work, work.realmId);
        const validSeconds = expires_at ? (expires_at.getTime() - created_at.getTime()) / 1_000 : undefined;
        if (to) await send(work, realm, [{ to, key, validSeconds }]);
        // Extends the invitation by its original duration; the previously mailed link becomes invalid.
        await work.run(
          sql.unsafe`UPDATE users.invitation SET key = ${storedKey(key)}, created_at = now(), expires_at = now() + (expires_at - created_at) WHERE id = ${id}`,
        );
      }),
    ),
  ];
}
