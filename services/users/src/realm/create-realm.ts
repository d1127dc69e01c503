import { badRequest, checkedChannelName, type ParamsOf, roles, userOperations } from '@natter/contracts';
import { isDuplicate, sql, type Work } from '@natter/database';
import { type Context, type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { insertKey } from '../model/api-keys.ts';
import { checkEmailForm } from '../model/change-email.ts';
import { checkPassword, createApiKey, hashPassword } from '../model/credentials/passwords.ts';
import { checkedFullName } from '../model/full-name.ts';
import { findGroup, toGroup } from '../model/group-row.ts';
import { insertAccount, type NewAccount } from '../model/insert-account.ts';
import { systemGroups } from '../model/system-groups.ts';

const idRow = z.object({ id: z.number() });
const hostRow = z.object({ host: z.string() });
const existingRow = idRow.extend({ realm_name: z.string(), has_owner: z.boolean() });

export function createRealmHandlers({ database, background }: Owner): Handlers {
  const existing = async (host: string, email: string | undefined) => {
    const known = await database.maybeOne(sql.type(existingRow)`
      SELECT id, name AS realm_name, EXISTS (SELECT FROM users.account a
        WHERE a.realm_id = r.id AND lower(a.email) = lower(${email ?? null}) AND a.role = ${roles.owner} AND a.is_active AND NOT a.is_bot) AS has_owner
      FROM users.realm r WHERE host = ${host}`);
    if (!known) return undefined;
    const { id, ...described } = known;
    return { realm_id: id, is_new: false, existing: described };
  };
  return [
    handle(userOperations.createRealm, async (context, { host, realm_name, is_default, realm_url, owner }) => {
      if (!is_default) requireOwnHost(host, realm_url);
      const known = await existing(host, owner?.email);
      if (known) return known;
      const key = createApiKey();
      const account = owner && (await ownerAccount(context, owner));
      const { id } = await database.one(
        sql.type(idRow)`SELECT nextval(pg_get_serial_sequence('users.realm', 'id'))::int AS id`,
      );
      try {
        return await background(id, async (work) => {
          await work.run(sql.unsafe`
            INSERT INTO users.realm (id, host, name, is_default, url) OVERRIDING SYSTEM VALUE
            VALUES (${id}, ${host}, ${realm_name}, ${is_default}, ${realm_url ?? null})`);
          await work.one(sql.type(z.object({}))`SELECT log.create_realm(${id})::text`);
          await createSystemGroups(work);
          await createSystemBots(work, host);
          if (account === undefined) return { realm_id: id, is_new: true };
          const { user_id } = await insertAccount(work, account);
          await insertKey(work, { realmId: id, userId: user_id }, key);
          return { realm_id: id, is_new: true, owner: { user_id, api_key: key } };
        });
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        // Another request created a realm with this host meanwhile.
        const winner = await existing(host, owner?.email);
        if (winner) return winner;
        const other = is_default ? await defaultHost(database) : undefined;
        throw other === undefined ? error : badRequest(`${other} is the default realm already`);
      }
    }),
  ];
}

async function defaultHost(database: Owner['database']): Promise<string | undefined> {
  const row = await database.maybeOne(sql.type(hostRow)`SELECT host FROM users.realm WHERE is_default`);
  return row?.host;
}

/** Checked here, because channels creates them after the commit and cannot refuse any more. */
function distinctNames(names: readonly string[]): string[] {
  const checked = names.map((name) => checkedChannelName(name));
  return [...new Map(checked.map((name) => [name.toLowerCase(), name])).values()];
}

async function ownerAccount(
  context: Context,
  owner: NonNullable<ParamsOf<typeof userOperations.createRealm>['owner']>,
): Promise<NewAccount> {
  checkPassword(owner.password);
  checkEmailForm(owner.email);
  return {
    email: owner.email,
    full_name: checkedFullName(owner.full_name),
    role: roles.owner,
    password_hash: await hashPassword(owner.password, context),
    can_create_users: true,
    can_change_user_emails: true,
    note: { first_channels: distinctNames(owner.first_channels ?? []) },
  };
}

/** Only the default realm is served under other hosts than its own. */
export function requireOwnHost(host: string, url: string | undefined): void {
  if (url !== undefined && new URL(url).host !== new URL(`${new URL(url).protocol}//${host}`).host)
    throw badRequest(`The URL of the realm must have its host, ${host}`);
}

async function createSystemGroups(work: Work): Promise<void> {
  let previous: number | undefined;
  for (const { name, description } of systemGroups) {
    const { id } = await work.one(sql.type(idRow)`
      INSERT INTO users.user_group (realm_id, name, description, is_system) VALUES (${work.realmId}, ${name}, ${description}, true) RETURNING id`);
    if (previous !== undefined)
      await work.run(sql.unsafe`INSERT INTO users.group_subgroup (group_id, subgroup_id) VALUES (${id}, ${previous})`);
    if (name !== 'role:nobody') previous = id;
    const row = await findGroup(work, work.realmId, id);
    if (row) work.emit({ type: 'user_group', op: 'add', body: { group: toGroup(row) }, audience: 'realm' });
  }
}

async function createSystemBots(work: Work, host: string): Promise<void> {
  const bots = [
    ['notification-bot', 'Notification Bot'],
    ['welcome-bot', 'Welcome Bot'],
  ] as const;
  for (const [name, full_name] of bots)
    await insertAccount(work, {
      email: `${name}@${host}`,
      full_name,
      role: 400,
      password_hash: null,
      is_bot: true,
      is_system_bot: true,
    });
}
