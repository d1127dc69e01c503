import { ChatError, emptyTopicDisplayName, featureLevel, serverVersion, userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { insertAccount } from './insert-account.ts';
import { systemGroups } from './system-groups.ts';

export function realmHandlers(owner: Owner): Handlers {
  const { database, unitOfWork } = owner;
  return [
    handle(userOperations.findRealm, async (_, { host }) => {
      const realm = await database.maybeOne(sql.type(z.object({ id: z.number() }))`
        SELECT id FROM users.realm WHERE host = ${host} OR is_default ORDER BY (host = ${host}) DESC LIMIT 1`);
      if (!realm) throw new ChatError('NONEXISTENT_SUBDOMAIN', 'Subdomain does not exist');
      return { realm_id: realm.id };
    }),

    handle(userOperations.getServerSettings, async ({ meta }) => {
      const realm = await database.one(sql.type(z.object({ name: z.string(), description: z.string() }))`
        SELECT name, description FROM users.realm WHERE id = ${meta.realmId}`);
      return serverSettings(realm, meta.realmUrl);
    }),

    handle(userOperations.createRealm, async (_, { host, realm_name, is_default }) => {
      const known = await database.maybeOne(
        sql.type(z.object({ id: z.number() }))`SELECT id FROM users.realm WHERE host = ${host}`,
      );
      if (known) return { realm_id: known.id, is_new: false };
      const realm = await database.one(sql.type(z.object({ id: z.number() }))`
        WITH made AS (INSERT INTO users.realm (host, name, is_default) VALUES (${host}, ${realm_name}, ${is_default}) RETURNING id)
        SELECT id, log.create_realm(id) FROM made`);
      await unitOfWork({ realmId: realm.id, schema: 'users' }, async (work) => {
        let previous: number | undefined;
        for (const { name, description } of systemGroups) {
          const group = await work.one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO users.user_group (realm_id, name, description, is_system) VALUES (${realm.id}, ${name}, ${description}, true) RETURNING id`);
          if (previous !== undefined)
            await work.run(
              sql.unsafe`INSERT INTO users.group_subgroup (group_id, subgroup_id) VALUES (${group.id}, ${previous})`,
            );
          if (name !== 'role:nobody') previous = group.id;
        }
        for (const [email, full_name] of [
          ['notification-bot', 'Notification Bot'],
          ['welcome-bot', 'Welcome Bot'],
        ] as const)
          await insertAccount(work, {
            email: `${email}@${host}`,
            full_name,
            role: 400,
            password_hash: null,
            is_bot: true,
            is_system_bot: true,
          });
      });
      return { realm_id: realm.id, is_new: true };
    }),
  ];
}

function serverSettings(
  realm: { name: string; description: string },
  realmUrl: string,
): Record<string, unknown> & { realm_name: string } {
  return {
    authentication_methods: {
      password: true,
      email: true,
      dev: false,
      ldap: false,
      remoteuser: false,
      github: false,
      azuread: false,
      gitlab: false,
      google: false,
      apple: false,
      saml: false,
      'openid connect': false,
    },
    external_authentication_methods: [],
    zulip_version: serverVersion,
    service_version: serverVersion,
    zulip_merge_base: serverVersion,
    zulip_feature_level: featureLevel,
    service_feature_level: featureLevel,
    push_notifications_enabled: false,
    is_incompatible: false,
    email_auth_enabled: true,
    require_email_format_usernames: true,
    realm_uri: realmUrl,
    realm_url: realmUrl,
    realm_name: realm.name,
    realm_icon: '',
    realm_description: realm.description,
    realm_web_public_access_enabled: false,
    realm_empty_topic_display_name: emptyTopicDisplayName,
  };
}
