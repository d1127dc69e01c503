import { badRequest, ChatError, defaultRealmUrl, userOperations } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { insertAccount } from '../accounts/insert-account.ts';
import { findGroup, toGroup } from '../groups/group-row.ts';
import { systemGroups } from '../groups/system-groups.ts';

const idRow = z.object({ id: z.number() });
const foundRow = z.object({ id: z.number(), host: z.string(), url: z.string().nullable() });

export function createRealmHandlers({ database, unitOfWork }: Owner): Handlers {
  return [
    handle(userOperations.findRealm, async (_, { host }) => {
      const realm = await database.maybeOne(sql.type(foundRow)`
        SELECT id, host, url FROM users.realm WHERE host = ${host} OR is_default ORDER BY (host = ${host}) DESC LIMIT 1`);
      if (!realm) throw new ChatError('NONEXISTENT_SUBDOMAIN', 'Subdomain does not exist');
      return { realm_id: realm.id, realm_url: realm.url ?? defaultRealmUrl(realm.host) };
    }),

    handle(userOperations.createRealm, async (_, { host, realm_name, is_default, realm_url }) => {
      if (!is_default) requireOwnHost(host, realm_url);
      const known = await database.maybeOne(sql.type(idRow)`SELECT id FROM users.realm WHERE host = ${host}`);
      if (known) return { realm_id: known.id, is_new: false };
      const realm = await database.one(sql.type(idRow)`
        WITH made AS (INSERT INTO users.realm (host, name, is_default, url) VALUES (${host}, ${realm_name}, ${is_default}, ${realm_url ?? null}) RETURNING id)
        SELECT id, log.create_realm(id) FROM made`);
      await unitOfWork({ realmId: realm.id, schema: 'users', claim: undefined }, async (work) => {
        await createSystemGroups(work);
        await createSystemBots(work, host);
      });
      return { realm_id: realm.id, is_new: true };
    }),

    handle(userOperations.setRealmUrl, async ({ meta }, { realm_url }) =>
      unitOfWork({ realmId: meta.realmId, schema: 'users', claim: undefined }, async (work) => {
        const realm = await work.one(sql.type(z.object({ host: z.string(), is_default: z.boolean() }))`
          SELECT host, is_default FROM users.realm WHERE id = ${work.realmId} FOR NO KEY UPDATE`);
        if (!realm.is_default) requireOwnHost(realm.host, realm_url);
        const changed = await work.run(
          sql.unsafe`UPDATE users.realm SET url = ${realm_url} WHERE id = ${work.realmId} AND url IS DISTINCT FROM ${realm_url}`,
        );
        // Other services hold the URL with the realm's policy.
        if (changed > 0) work.bump('realm');
        return {};
      }),
    ),
  ];
}

/** Only the default realm answers under other hosts than its own. */
function requireOwnHost(host: string, url: string | undefined): void {
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
