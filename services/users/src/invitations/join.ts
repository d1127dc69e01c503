import { badRequest, ChatError, invitationOperations, type ParamsOf, type RequestMeta } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { checkedFullName, requireUniqueName } from '../accounts/full-name.ts';
import { insertAccount } from '../accounts/insert-account.ts';
import { insertKey } from '../authentication/authentication.ts';
import type { KeySeal } from '../authentication/key-seal.ts';
import { createApiKey, hashPassword } from '../authentication/passwords.ts';
import { insertMembers } from '../groups/create-group.ts';
import { bumpMembers, emitMembers } from '../groups/membership.ts';
import { checkEmailDomain } from '../realm/domains.ts';
import { readRealm } from '../realm/read-realm.ts';
import { announceInvites, findByKey, type InvitationRow } from './invitation-row.ts';
import { formPage, gonePage, welcomePage } from './join-page.ts';

type Params = ParamsOf<typeof invitationOperations.join>;
const emailForm = z.email();

export function joinHandlers(owner: Owner, seal: KeySeal): Handlers {
  const page = async (meta: RequestMeta, key: string) => {
    const invitation = await findByKey(owner.database, meta.realmId, key);
    const { settings, isDeactivated } = await readRealm(owner.database, meta.realmId);
    if (!invitation || isDeactivated) return gonePage();
    return formPage({ realmName: settings.name, key, email: invitation.email, given: {}, problem: undefined });
  };
  return [
    handle(invitationOperations.join, ({ meta }, params) => join(owner, seal, meta, params)),
    handle(invitationOperations.joinPage, ({ meta }, { key }) => page(meta, key)),
    handle(invitationOperations.confirmPage, ({ meta }, { key }) => page(meta, key)),
    handle(invitationOperations.joinByPage, async ({ meta }, { idempotency_key, ...params }) => {
      const invitation = await findByKey(owner.database, meta.realmId, params.key);
      const { settings, url } = await readRealm(owner.database, meta.realmId);
      try {
        const idempotencyKey = meta.idempotencyKey ?? idempotency_key;
        const { email } = await join(owner, seal, { ...meta, idempotencyKey }, params);
        return welcomePage({ realmName: settings.name, realmUrl: url, email });
      } catch (error) {
        if (!(error instanceof ChatError) || error.status >= 500) throw error;
        if (!invitation) return gonePage();
        const { key, full_name } = params;
        const given = { full_name, email: params.email };
        return formPage({ realmName: settings.name, key, email: invitation.email, given, problem: error.message });
      }
    }),
  ];
}

/** Under the same idempotency key the same account, with the same API key, also where the invitation served once. */
async function join({ database, unitOfWork }: Owner, seal: KeySeal, meta: RequestMeta, params: Params) {
  const { realmId, idempotencyKey } = meta;
  const { key, password } = params;
  if (idempotencyKey === undefined && !(await findByKey(database, realmId, key))) throw noInvitation();
  const asked = JSON.stringify([key, params.email, params.full_name]);
  const idempotency = idempotencyKey && {
    idempotency: { userId: 0, key: `key:${idempotencyKey}`, fingerprint: `join ${asked}` },
  };
  const full_name = checkedFullName(params.full_name);
  const password_hash = await hashPassword(password);
  const api_key = idempotencyKey
    ? seal.derive(JSON.stringify([realmId, idempotencyKey, asked, password]))
    : createApiKey();
  const made = await unitOfWork({ realmId, schema: 'users', ...idempotency }, async (work) => {
    // Held: it is revoked before this account is made, or after.
    const invitation = await findByKey(work, realmId, key, sql.fragment`FOR UPDATE`);
    if (!invitation) throw noInvitation();
    const email = invitation.email ?? params.email ?? '';
    if (!emailForm.safeParse(email).success) throw badRequest('Invalid email address');
    const realm = await readRealm(work, realmId);
    if (realm.isDeactivated) throw new ChatError('REALM_DEACTIVATED', 'This organization has been deactivated');
    await checkEmailDomain(work, realm, email);
    await requireUniqueName(work, realm, full_name);
    const note = {
      default_channels: invitation.default_channels,
      channel_ids: invitation.channel_ids,
      invited_by: invitation.inviter_id,
      notify_inviter: invitation.notify_inviter,
      welcome_message_custom_text: invitation.welcome_text,
    };
    const person = await insertAccount(work, { email, full_name, role: invitation.invite_as, password_hash, note });
    await insertKey(work, realmId, person.user_id, api_key);
    await joinGroups(work, invitation, person.user_id);
    if (invitation.email !== null) {
      await work.run(sql.unsafe`UPDATE users.invitation SET is_closed = true WHERE id = ${invitation.id}`);
      await announceInvites(work, [invitation.inviter_id]);
    }
    return { user_id: person.user_id, email };
  });
  return { ...made, api_key };
}

/** Those that are still there. */
async function joinGroups(work: Work, { group_ids }: InvitationRow, userId: number): Promise<void> {
  const groups = await work.any(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.user_group WHERE realm_id = ${work.realmId} AND id = ANY(${sql.array(group_ids, 'int4')})
      AND NOT is_deactivated AND NOT is_system ORDER BY id FOR SHARE`);
  for (const { id } of groups) {
    await insertMembers(work, id, [userId]);
    emitMembers(work, 'add_members', id, [userId]);
  }
  if (groups.length > 0) bumpMembers(work, [userId]);
}

const noInvitation = (): ChatError => badRequest('Whoops. The confirmation link has expired or been deactivated.');
