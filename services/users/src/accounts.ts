import {
  badRequest,
  isAdministrator,
  type ProfileData,
  roles,
  roleValues,
  type User,
  userOperations,
} from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { type Handlers, handle, idempotencyOf, type Owner, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { type AccountRow, accountColumns, accountRow, toUser } from './account-row.ts';
import { credentialsChanged, insertKey } from './authentication.ts';
import { checkedFullName } from './full-name.ts';
import { holderOf } from './groups/holder.ts';
import { announceLeaving, moveToRole } from './groups/membership.ts';
import { insertAccount } from './insert-account.ts';
import { revokeInvitesOf } from './invitations/invitation-row.ts';
import { createApiKey, hashPassword } from './passwords.ts';
import { changeProfileData, readProfileData } from './profile-fields/profile-data.ts';

const emailForm = z.email();

export function accountHandlers(owner: Owner): Handlers {
  const { database, unitOfWork } = owner;
  return [
    handle(userOperations.createUser, async ({ actor, meta }, params) => {
      const { can_create_users } = await database.one(sql.type(z.object({ can_create_users: z.boolean() }))`
        SELECT can_create_users FROM users.account WHERE id = ${actor.userId}`);
      if (!isAdministrator(actor) || !can_create_users)
        throw badRequest('Must be an organization administrator who may create users');
      const account = checkedAccount(params);
      const password_hash = await hashPassword(params.password);
      const options = {
        realmId: actor.realmId,
        schema: 'users',
        idempotency: idempotencyOf({ actor, meta }, 'create-user', params),
      };
      return unitOfWork(options, async (work) => {
        work.restOn(actor.basis);
        const person = await insertAccount(work, { ...account, password_hash, role: roles.member });
        return { user_id: person.user_id };
      });
    }),

    handle(userOperations.addPerson, async ({ meta }, params) => {
      const key = createApiKey();
      const password_hash = params.password === undefined ? null : await hashPassword(params.password);
      const account = {
        ...checkedAccount(params),
        role: params.role,
        password_hash,
        can_create_users: params.can_create_users,
        can_change_user_emails: params.can_change_user_emails,
      };
      return unitOfWork({ realmId: meta.realmId, schema: 'users' }, async (work) => {
        const person = await insertAccount(work, account);
        await insertKey(work, meta.realmId, person.user_id, key);
        return { user_id: person.user_id, api_key: key };
      });
    }),

    handle(userOperations.getUsers, async ({ actor }, { user_ids, client_gravatar, include_custom_profile_fields }) => {
      const only = user_ids === undefined ? sql.fragment`` : sql.fragment`AND id = ANY(${sql.array(user_ids, 'int4')})`;
      const rows = await database.any(sql.type(accountRow)`
        SELECT ${accountColumns} FROM users.account WHERE realm_id = ${actor.realmId} ${only} ORDER BY id`);
      const profiles = include_custom_profile_fields
        ? await readProfileData(database, actor.realmId, user_ids)
        : undefined;
      return { members: rows.map((row) => withProfile(toUser(row, client_gravatar), profiles)) };
    }),

    handle(userOperations.getOwnUser, async ({ actor }) => {
      const row = await find(database, actor.realmId, actor.userId);
      const { number } = await database.one(
        sql.type(z.object({ number: z.number() }))`SELECT number FROM log.position(${actor.realmId})`,
      );
      const profiles = await readProfileData(database, actor.realmId, [actor.userId]);
      return { ...withProfile(toUser(row, false), profiles), max_message_id: number };
    }),

    handle(userOperations.updateUser, async ({ actor }, { user_id, full_name, role, profile_data }) => {
      if (!isAdministrator(actor)) throw badRequest('Must be an organization administrator');
      const name = full_name === undefined ? undefined : checkedFullName(full_name);
      await unitOfWork({ realmId: actor.realmId, schema: 'users' }, async (work) => {
        work.restOn(actor.basis);
        const row = await lock(work, user_id);
        if (name !== undefined && name !== row.full_name) {
          await work.run(sql.unsafe`UPDATE users.account SET full_name = ${name} WHERE id = ${row.id}`);
          work.emit({
            type: 'realm_user',
            op: 'update',
            body: { person: { user_id: row.id, full_name: name } },
            audience: 'realm',
          });
        }
        if (role !== undefined && role !== row.role) await changeRole(work, actor, row, role);
        if (profile_data) await changeProfileData(work, await holderOf(work, actor.userId), row.id, profile_data);
      });
      return {};
    }),

    handle(userOperations.deactivateUser, async ({ actor }, { user_id }) => {
      if (!isAdministrator(actor)) throw badRequest('Must be an organization administrator');
      await unitOfWork({ realmId: actor.realmId, schema: 'users' }, async (work) => {
        work.restOn(actor.basis);
        const row = await lock(work, user_id);
        if (!row.is_active) return;
        if (row.role === roles.owner && actor.role !== roles.owner) throw badRequest('Must be an organization owner');
        if (row.role === roles.owner) await keepAnOwner(work, row.id);
        await work.run(sql.unsafe`UPDATE users.account SET is_active = false WHERE id = ${row.id}`);
        work.emit({
          type: 'realm_user',
          op: 'update',
          body: { person: { user_id: row.id, is_active: false } },
          audience: 'realm',
        });
        await announceLeaving(work, row.id);
        await revokeInvitesOf(work, row.id);
        work.emit(credentialsChanged(row.id));
      });
      return {};
    }),
  ];
}

function checkedAccount({ email, full_name }: { email: string; full_name: string }): {
  email: string;
  full_name: string;
} {
  if (!emailForm.safeParse(email).success) throw badRequest('Invalid email address');
  return { email, full_name: checkedFullName(full_name) };
}

async function changeRole(work: Work, actor: UserContext['actor'], row: AccountRow, role: number): Promise<void> {
  if (!roleValues.some((value) => value === role)) throw badRequest('Invalid role');
  if ((role === roles.owner || row.role === roles.owner) && actor.role !== roles.owner)
    throw badRequest('Must be an organization owner');
  if (row.role === roles.guest && role <= roles.administrator) throw badRequest('Guests cannot be made administrators');
  if (row.role === roles.owner) await keepAnOwner(work, row.id);
  await work.run(sql.unsafe`UPDATE users.account SET role = ${role} WHERE id = ${row.id}`);
  work.emit({ type: 'realm_user', op: 'update', body: { person: { user_id: row.id, role } }, audience: 'realm' });
  await moveToRole(work, row.id, role);
}

async function keepAnOwner(work: Work, userId: number): Promise<void> {
  // Locked, so that two owners cannot end each other at once.
  const owners = await work.any(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND role = ${roles.owner} AND is_active ORDER BY id FOR UPDATE`);
  if (!owners.some((owner) => owner.id !== userId))
    throw badRequest('The owner permission cannot be removed from the only organization owner.');
}

async function lock(work: Work, userId: number): Promise<AccountRow> {
  const row = await work.maybeOne(sql.type(accountRow)`
    SELECT ${accountColumns} FROM users.account WHERE realm_id = ${work.realmId} AND id = ${userId} AND NOT is_system_bot FOR UPDATE`);
  if (!row) throw badRequest('No such user');
  return row;
}

async function find(executor: Executor, realmId: number, userId: number): Promise<AccountRow> {
  return executor.one(
    sql.type(accountRow)`SELECT ${accountColumns} FROM users.account WHERE realm_id = ${realmId} AND id = ${userId}`,
  );
}

const withProfile = (user: User, profiles: Map<number, ProfileData> | undefined): User =>
  profiles && !user.is_bot ? { ...user, profile_data: profiles.get(user.user_id) ?? {} } : user;
