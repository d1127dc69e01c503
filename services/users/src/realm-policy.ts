import { type RealmPermission, realmPermissions, type SystemGroupName, userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

export function realmPolicyHandlers({ database }: Owner): Handlers {
  return [
    handle(userOperations.getRealmPolicy, async ({ meta }) => {
      // The version first: a copy newer than its version is only fetched once more.
      const { version } = await database.one(sql.type(z.object({ version: z.number() }))`
        SELECT version FROM log.versions(${meta.realmId}, ${sql.array(['realm'], 'text')})`);
      const realm = await database.one(
        sql.type(z.object({ name: z.string() }))`SELECT name FROM users.realm WHERE id = ${meta.realmId}`,
      );
      const groups = await database.any(sql.type(z.object({ id: z.number(), name: z.string() }))`
        SELECT id, name FROM users.user_group WHERE realm_id = ${meta.realmId} AND is_system`);
      const system_groups = Object.fromEntries(groups.map(({ id, name }) => [name, id])) as Record<
        SystemGroupName,
        number
      >;
      const permissions = Object.fromEntries(
        Object.entries(realmPermissions).map(([name, { default_group_name }]) => [
          name,
          system_groups[default_group_name as SystemGroupName],
        ]),
      ) as Record<RealmPermission, number>;
      return { version, system_groups, permissions, name: realm.name, settings: defaults };
    }),
  ];
}

const defaults = {
  allow_message_editing: true,
  message_content_edit_limit_seconds: 600,
  message_content_delete_limit_seconds: 600,
  move_messages_within_stream_limit_seconds: 604_800,
  move_messages_between_streams_limit_seconds: 604_800,
  message_edit_history_visibility_policy: 'all' as const,
  message_retention_days: -1,
  topics_policy: 'allow_empty_topic' as const,
  enable_read_receipts: true,
  enable_spectator_access: false,
  presence_disabled: false,
  inline_image_preview: true,
  default_code_block_language: '',
  default_language: 'en',
  waiting_period_threshold: 0,
  new_stream_announcements_stream_id: -1,
  signup_announcements_stream_id: -1,
  send_welcome_emails: true,
  welcome_message_custom_text: '',
};
