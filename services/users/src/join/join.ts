import {
  badRequest,
  ChatError,
  invitationOperations,
  isRefusal,
  type Page,
  type ParamsOf,
  type RequestMeta,
} from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import {
  type Context,
  type Handlers,
  handle,
  handleStored,
  handleWrite,
  type Owner,
  type Writing,
} from '@natter/service-kit';
import { insertKey } from '../model/api-keys.ts';
import { expectGroupVersions } from '../model/change.ts';
import { checkNewEmail } from '../model/change-email.ts';
import { conveyedRights } from '../model/conveyed-rights.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { createApiKey, hashPassword } from '../model/credentials/passwords.ts';
import { checkedFullName, requireUniqueName } from '../model/full-name.ts';
import { insertAccount } from '../model/insert-account.ts';
import type { SendInvitation } from '../model/invitation-mail.ts';
import { findByKey, type InvitationRow, withLink } from '../model/invitation-row.ts';
import { bumpMembers, emitMembers } from '../model/membership.ts';
import { lockRealm, type Realm, readRealm } from '../model/read-realm.ts';
import { formPage, gonePage, lookIntoMailPage, welcomePage } from './join-page.ts';
import { inviteToVerify, mailSent, verifiesAddress } from './verify-address.ts';

type Params = ParamsOf<typeof invitationOperations.join>;

export function joinHandlers(owner: Owner, seal: KeySeal, send: SendInvitation): Handlers {
  const page = async (meta: RequestMeta, key: string) => {
    const invitation = await findByKey(owner.database, meta.realmId, key);
    const realm = await readRealm(owner.database, meta.realmId);
    if (!invitation || realm.isDeactivated) return gonePage();
    return formPage({ ...formOf(realm, invitation, key), given: {}, problem: undefined });
  };
  return [
    handleStored(
      invitationOperations.join,
      (context, params) => {
        const api_key = createApiKey();
        return join<Stored>(
          owner,
          send,
          { context, params, api_key },
          {
            made: (made) => ({ ...made, sealed_key: seal.seal(api_key) }),
            mailed: { is_mail_sent: true },
          },
        );
      },
      (stored) => {
        if ('is_mail_sent' in stored) throw mailSent();
        const { sealed_key, ...made } = stored;
        return { ...made, api_key: seal.open(sealed_key) };
      },
    ),
    handle(invitationOperations.joinPage, ({ meta }, { key }) => page(meta, key)),
    handle(invitationOperations.confirmPage, ({ meta }, { key }) => page(meta, key)),
    handleWrite(invitationOperations.joinByPage, async (context, params) => {
      const { meta } = context;
      const invitation = await findByKey(owner.database, meta.realmId, params.key);
      const realm = await readRealm(owner.database, meta.realmId);
      try {
        return await join<Page>(
          owner,
          send,
          { context, params, api_key: createApiKey() },
          {
            made: ({ email }) => welcomePage({ realmName: realm.settings.name, realmUrl: realm.url, email }),
            mailed: lookIntoMailPage(),
          },
        );
      } catch (error) {
        if (!isRefusal(error)) throw error;
        if (!invitation) return gonePage();
        const given = { full_name: params.full_name, email: params.email };
        return formPage({ ...formOf(realm, invitation, params.key), given, problem: error.message });
      }
    }),
  ];
}

const formOf = (realm: Realm, invitation: InvitationRow, key: string) => ({
  realmName: realm.settings.name,
  key,
  email: invitation.email,
  asksAddressAlone: verifiesAddress(realm, invitation),
});

interface Made {
  user_id: number;
  email: string;
}

type Stored = (Made & { sealed_key: string }) | { is_mail_sent: true };

/** The results of a join, which are stored with their effect. */
interface Results<R> {
  made: (made: Made) => R;
  /** An invitation for this address alone was mailed instead. */
  mailed: R;
}

interface Asked {
  context: Context & Writing;
  params: Params;
  api_key: string;
}

/** Creates the account with one API key, or mails an invitation where the link verifies addresses. */
async function join<R>(
  owner: Owner,
  send: SendInvitation,
  { context, params, api_key }: Asked,
  results: Results<R>,
): Promise<R> {
  const { realmId } = context.meta;
  const { key, password } = params;
  const found = await findByKey(owner.database, realmId, key);
  if (!found) throw noInvitation();
  if (verifiesAddress(await readRealm(owner.database, realmId), found))
    return inviteToVerify(owner, send, { context, key, email: params.email ?? '', mailed: results.mailed });
  const full_name = checkedFullName(params.full_name);
  const password_hash = await hashPassword(password, context);
  const make = async (work: Work): Promise<R> => {
    const made = await makeAccount(work, { key, email: params.email, full_name, password_hash });
    await insertKey(work, { realmId, userId: made.user_id }, api_key);
    return results.made(made);
  };
  return context.write(make, { isQueued: true });
}

interface Newcomer {
  key: string;
  /** Ignored if the invitation names an address. */
  email: string | undefined;
  full_name: string;
  password_hash: string;
}

async function makeAccount(work: Work, { key, full_name, password_hash, ...given }: Newcomer) {
  // Locked: the inviter is demoted or deactivated, and the invitation revoked, either before or after this account is
  // created.
  await expectGroupVersions(work);
  const realm = await lockRealm(work);
  if (realm.isDeactivated) throw new ChatError('REALM_DEACTIVATED', 'This organization has been deactivated');
  const found = await findByKey(work, work.realmId, key, sql.fragment`FOR UPDATE`);
  const invitation = found && (await withLink(work, found));
  if (!invitation) throw noInvitation();
  const conveyed = await conveyedRights(work, realm, invitation);
  if (!conveyed) throw noInvitation();
  if (verifiesAddress(realm, invitation))
    throw badRequest('Open the link again: this organization verifies addresses.');
  const email = invitation.email ?? given.email ?? '';
  await checkNewEmail(work, realm, email);
  await requireUniqueName(work, realm, full_name);
  const note = {
    default_channels: invitation.default_channels,
    channel_ids: invitation.channel_ids,
    invited_by: invitation.inviter_id,
    inviter_may_add_subscribers: conveyed.mayAddSubscribers,
    notify_inviter: invitation.notify_inviter,
    welcome_message_custom_text: conveyed.welcomeText,
  };
  const { user_id } = await insertAccount(work, { email, full_name, role: conveyed.role, password_hash, note });
  await joinGroups(work, user_id, conveyed.groupIds);
  return { user_id, email };
}

async function joinGroups(work: Work, userId: number, groupIds: readonly number[]): Promise<void> {
  if (groupIds.length === 0) return;
  await work.run(sql.unsafe`
    INSERT INTO users.group_member (group_id, user_id) SELECT id, ${userId} FROM unnest(${sql.array([...groupIds], 'int4')}) id`);
  for (const id of groupIds) emitMembers(work, 'add_members', id, [userId]);
  bumpMembers(work, [userId]);
}

const noInvitation = (): ChatError => badRequest('Whoops. The confirmation link has expired or been deactivated.');
