import { channelPermissionsSchema, topicsPolicies } from '@natter/contracts';
import { sql } from '@natter/database';
import { z } from 'zod';

export const channelRow = z.object({
  id: z.number(),
  name: z.string(),
  description: z.string(),
  rendered_description: z.string(),
  creator_id: z.number().nullable(),
  is_private: z.boolean(),
  is_web_public: z.boolean(),
  is_archived: z.boolean(),
  history_public: z.boolean(),
  is_default: z.boolean(),
  message_retention_days: z.number().nullable(),
  topics_policy: z.enum(topicsPolicies),
  folder_id: z.number().nullable(),
  permissions: channelPermissionsSchema,
  subscriber_count: z.number(),
  first_message_id: z.number().nullable(),
  is_recently_active: z.boolean(),
  weekly_traffic: z.number().nullable(),
  created_at: z.date(),
});
export type ChannelRow = z.infer<typeof channelRow>;

export const channelColumns = sql.fragment`c.id, c.name, c.description, c.rendered_description, c.creator_id, c.is_private, c.is_web_public,
  c.is_archived, c.history_public, c.is_default, c.message_retention_days, c.topics_policy, c.folder_id, c.permissions, c.subscriber_count, c.first_message_id,
  c.is_recently_active, c.weekly_traffic, c.created_at`;

/** An active channel by name, case-insensitively. */
export const namedActive = (realmId: number, name: string) =>
  sql.fragment`c.realm_id = ${realmId} AND lower(c.name) = lower(${name}) AND NOT c.is_archived`;
