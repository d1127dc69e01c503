import {
  badRequest,
  insufficientPermission,
  invitationOperations,
  isAdministrator,
  type ParamsOf,
  roles,
  totals,
} from '@natter/contracts';
import { requireRoom, requireShare, sql, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import { type Bus, type Handlers, handleStored, type WriteContext } from '@natter/service-kit';
import { mayAddMembers } from '../model/access-group.ts';
import type { UsersConfig } from '../model/config.ts';
import { mayInviteAs } from '../model/conveyed-rights.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { lockAccount } from '../model/find-account.ts';
import { readGroupRules } from '../model/group-row.ts';
import { holderOf } from '../model/holder.ts';
import { newInvitationKey, storedKey } from '../model/invitation-key.ts';
import type { SendInvitation } from '../model/invitation-mail.ts';
import { announceInvites, isOpen } from '../model/invitation-row.ts';
import { MailLimitHit } from '../model/mail/mail-limits.ts';
import { ownAccounts } from '../model/own-accounts.ts';
import { readRealm } from '../model/read-realm.ts';
import { checkedAddresses } from './addresses.ts';
import { invitationFailed } from './invitation-failed.ts';

type Shared = ParamsOf<typeof invitationOperations.createInviteLink>;

export interface Draft {
  email: string | null;
  notifyInviter: boolean;
}

export interface Inviting {
  bus: Bus;
  config: UsersConfig;
  seal: KeySeal;
  send: SendInvitation;
}

export function createInviteHandlers(tools: Inviting): Handlers {
  const { send } = tools;
  return [
    handleStored(
      invitationOperations.sendInvites,
      (context, params) =>
        invite(tools, context, params, async (work, add) => {
          const { wanted, refused } = await checkedAddresses(work, params.invitee_emails);
          await lockAccount(work, context.actor.userId);
          const counted = await limitOf(send.count(work, wanted, { personId: context.actor.userId }));
          const realm = await readRealm(work, work.realmId);
          const keys = await add(wanted.map((email) => ({ email, notifyInviter: params.notify_referrer_on_join })));
          const minutes = minutesOf(params, tools.config);
          const validSeconds = minutes === null ? undefined : minutes * 60;
          // Keys are secrets, so they are not part of the answer, which is stored for repeated requests.
          const made = counted.map((to, index) => ({ to, key: keys[index] ?? '', validSeconds }));
          await send(work, realm, made);
          return { invited: wanted.length, refused };
        }),
      ({ invited, refused }) => {
        if (refused.length === 0) return {};
        throw invitationFailed(
          invited > 0
            ? "Some of those addresses are already using Natter, so we didn't send them an invitation. We did send invitations to everyone else!"
            : "We weren't able to invite anyone.",
          refused,
          invited > 0,
        );
      },
    ),
  ];
}

/**
 * `add` inserts an invitation for each draft, and returns their keys. `write` locks the account of the inviter before it, and
 * the realm before the account if it needs that: a deactivation of the inviter then ends these invitations too.
 */
export async function invite<R>(
  { bus, config, seal }: Inviting,
  context: WriteContext,
  params: Shared,
  write: (work: Work, add: (drafts: Draft[]) => Promise<string[]>) => Promise<R>,
): Promise<R> {
  const { actor, meta } = context;
  if (params.stream_ids.length > 0)
    await bus.call(invitationOperations.checkInvitedChannels, { stream_ids: params.stream_ids }, { actor, meta });
  return context.write(async (work) => {
    const holder = await holderOf(work, actor.userId);
    requireRank(holder, params.invite_as);
    await requireGroups(work, holder, params.group_ids);
    return write(work, async (drafts) => {
      const keys = drafts.map(() => newInvitationKey());
      const minutes = minutesOf(params, config);
      const invitations = drafts.map((draft, index): Invitation => {
        const key = keys[index] ?? '';
        return { ...draft, key: storedKey(key), sealedKey: draft.email === null ? seal.seal(key) : null };
      });
      await insertInvites(work, holder, { ...params, minutes }, invitations);
      // Closed invitations are stored for some days. Invitations that strangers request through links are limited as mails.
      const counted = sql.fragment`users.invitation WHERE realm_id = ${work.realmId} AND link_id IS NULL
        AND ((${isOpen}) OR created_at > now() - interval '1 day')`;
      if (!isAdministrator(holder))
        await requireShare(
          work,
          totals.invitations,
          sql.fragment`${counted} AND inviter_id IN ${ownAccounts(actor)}`,
          undefined,
          drafts.length,
        );
      await requireRoom(work, totals.invitations, counted, undefined, drafts.length);
      if (keys.length > 0) await announceInvites(work, [holder.userId]);
      return keys;
    });
  });
}

/** Minutes until the invitation ends; null if it does not end. */
const minutesOf = ({ invite_expires_in_minutes: given }: Shared, config: UsersConfig): number | null =>
  given === undefined ? config.INVITATION_LINK_VALIDITY_MINUTES : given;

export function requireRank(holder: Holder, inviteAs: number): void {
  if (mayInviteAs(holder, inviteAs)) return;
  throw badRequest(
    inviteAs === roles.owner ? 'Must be an organization owner' : 'Must be an organization administrator',
  );
}

export async function requireGroups(work: Work, holder: Holder, groupIds: readonly number[]): Promise<void> {
  if (groupIds.length === 0) return;
  const realm = await readRealm(work, work.realmId);
  const groups = new Map((await readGroupRules(work, work.realmId, groupIds)).map((group) => [group.id, group]));
  for (const id of groupIds) {
    const group = groups.get(id);
    if (!group || group.is_deactivated) throw badRequest('Invalid user group');
    if (group.is_system || !mayAddMembers(realm, group, holder)) throw insufficientPermission();
  }
}

/** Clients recognize the daily limit by a separate field. */
const limitOf = <R>(counting: Promise<R>): Promise<R> =>
  counting.catch((error: unknown) => {
    if (error instanceof MailLimitHit) throw invitationFailed(error.message, [], false, true);
    throw error;
  });

interface Invitation extends Draft {
  key: string;
  /** The encrypted key, only for an invitation without an address: its link is shown again later. */
  sealedKey: string | null;
}

/** In one statement, because the realm may be locked. Ids are in the order of the invitations. */
async function insertInvites(
  work: Work,
  holder: Holder,
  params: Shared & { minutes: number | null },
  invitations: readonly Invitation[],
): Promise<void> {
  const welcome = isAdministrator(holder) ? (params.welcome_message_custom_text ?? null) : null;
  const rows = invitations.map(({ key, email, notifyInviter, sealedKey }) => [key, email, notifyInviter, sealedKey]);
  await work.run(sql.unsafe`
    INSERT INTO users.invitation (realm_id, key, email, inviter_id, invite_as, channel_ids, group_ids, default_channels, welcome_text, notify_inviter, sealed_key, expires_at)
    SELECT ${work.realmId}, i.key, i.email, ${holder.userId}, ${params.invite_as}, ${sql.array(params.stream_ids, 'int4')}, ${sql.array(params.group_ids, 'int4')},
      ${params.include_realm_default_subscriptions}, ${welcome}, i.notify_inviter, i.sealed_key, now() + make_interval(mins => ${params.minutes})
    FROM ${sql.unnest(rows, ['text', 'text', 'bool', 'text'])} WITH ORDINALITY AS i (key, email, notify_inviter, sealed_key, at) ORDER BY i.at`);
}
