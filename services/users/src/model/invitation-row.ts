import { type Invitation, idSet, roles } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { KeySeal } from './credentials/key-seal.ts';
import { storedKey } from './invitation-key.ts';

export const invitationRow = z.object({
  id: z.number(),
  key: z.string(),
  email: z.string().nullable(),
  inviter_id: z.number(),
  invite_as: z.number(),
  channel_ids: z.array(z.number()),
  group_ids: z.array(z.number()),
  default_channels: z.boolean(),
  welcome_text: z.string().nullable(),
  notify_inviter: z.boolean(),
  created_at: z.date(),
  expires_at: z.date().nullable(),
  /** The reusable link through which this invitation was requested. */
  link_id: z.number().nullable(),
  /** The encrypted key of a reusable link; null for other invitations. */
  sealed_key: z.string().nullable(),
});
export type InvitationRow = z.infer<typeof invitationRow>;

export const invitationColumns = sql.fragment`id, key, email, inviter_id, invite_as, channel_ids, group_ids, default_channels, welcome_text, notify_inviter, created_at, expires_at, link_id, sealed_key`;
/** SQL condition: whether an invitation is open, by the clock of the database. */
export const isOpen = sql.fragment`NOT is_closed AND (expires_at IS NULL OR expires_at > now())`;

/** An open invitation of this realm by its key; neither keys of other realms nor stored forms of keys are accepted. */
export const findByKey = (
  executor: Executor,
  realmId: number,
  key: string,
  lock = sql.fragment``,
): Promise<InvitationRow | undefined> =>
  executor.maybeOne(sql.type(invitationRow)`
    SELECT ${invitationColumns} FROM users.invitation WHERE realm_id = ${realmId} AND key = ANY(${sql.array(storedForms(key), 'text')}) AND ${isOpen} ${lock}`);

/**
 * An invitation that was requested through a reusable link grants what the link grants now, and ends with it. The link is
 * locked.
 */
export async function withLink(work: Work, row: InvitationRow): Promise<InvitationRow | undefined> {
  const { id, email, link_id } = row;
  if (link_id === null) return row;
  const link = await work.maybeOne(sql.type(invitationRow)`
    SELECT ${invitationColumns} FROM users.invitation WHERE realm_id = ${work.realmId} AND id = ${link_id} AND ${isOpen} FOR SHARE`);
  return link && { ...link, id, email, link_id };
}

const storedForms = (key: string): string[] => (/^[a-z0-9]{40}$/.test(key) ? [key, storedKey(key)] : []);

export const linkOf = (realmUrl: string, key: string): string => `${realmUrl}/join/${key}/`;
export const mailLinkOf = (realmUrl: string, key: string): string => `${realmUrl}/accounts/do_confirm/${key}`;

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/** A link made by an earlier release contains its key in plain text until it is converted. */
const keyOf = ({ key, sealed_key }: InvitationRow, seal: KeySeal): string =>
  sealed_key === null ? key : seal.open(sealed_key);

/**
 * Whether the viewer may see another user's link. The link grants what the inviter may grant, so it must not grant more
 * than the viewer could, nor a channel or group that the viewer may not enter.
 */
const mayKnowLink = (row: InvitationRow, viewer: { userId: number; role: number }): boolean =>
  row.inviter_id === viewer.userId ||
  (row.invite_as >= viewer.role && row.channel_ids.length === 0 && row.group_ids.length === 0);

export const toInvitation = (
  row: InvitationRow,
  viewer: { userId: number; role: number },
  realmUrl: string,
  seal: KeySeal,
): Invitation => ({
  id: row.id,
  invited_by_user_id: row.inviter_id,
  invited: seconds(row.created_at),
  expiry_date: row.expires_at && seconds(row.expires_at),
  invited_as: row.invite_as,
  is_multiuse: row.email === null,
  notify_referrer_on_join: row.notify_inviter,
  ...(row.email === null ? {} : { email: row.email }),
  ...(row.email === null && mayKnowLink(row, viewer) ? { link_url: linkOf(realmUrl, keyOf(row, seal)) } : {}),
});

/** Makes clients of administrators and inviters reload the list. */
export async function announceInvites(work: Work, inviterIds: readonly number[]): Promise<void> {
  const administrators = await work.any(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND role <= ${roles.administrator} AND is_active`);
  const users = idSet([...administrators.map((row) => row.id), ...inviterIds]);
  work.emit({ type: 'invites_changed', body: {}, audience: { users } });
}

/** Invalidates the invitations of a deactivated user. */
export async function revokeInvitesOf(work: Work, userId: number): Promise<void> {
  const closed = await work.run(
    sql.unsafe`UPDATE users.invitation SET is_closed = true, closed_at = now() WHERE realm_id = ${work.realmId} AND inviter_id = ${userId} AND ${isOpen}`,
  );
  if (closed > 0) await announceInvites(work, [userId]);
}

/** Ends the invitations for an address that has an account from now on. */
export async function endInvitesFor(work: Work, email: string): Promise<void> {
  const ended = await work.any(sql.type(z.object({ inviter_id: z.number() }))`
    UPDATE users.invitation SET is_closed = true, closed_at = now()
    WHERE realm_id = ${work.realmId} AND lower(email) = lower(${email}) AND ${isOpen} RETURNING inviter_id`);
  if (ended.length === 0) return;
  await announceInvites(
    work,
    ended.map((row) => row.inviter_id),
  );
}
