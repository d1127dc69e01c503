import { z } from 'zod';
import { type BoundedValue, id, union } from '../../bounded.ts';
import { bool, json, type Param, textOrJson } from '../../param.ts';
import {
  type ChannelPermission,
  channelPermissions,
  groupSettingSchema,
  groupSettingUpdateSchema,
} from '../../permission-settings.ts';

export const topicsPolicies = ['inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only'] as const;

/** An own value is a number of days, or one of the two words. */
export const retentionSchema = union([id, z.enum(['realm_default', 'unlimited'])]);

const ofEveryPermission = <S extends BoundedValue>(schema: S): Record<ChannelPermission, Param<z.ZodOptional<S>>> =>
  Object.fromEntries(
    Object.keys(channelPermissions).map((name) => [name, json(z.optional(schema))]),
  ) as unknown as Record<ChannelPermission, Param<z.ZodOptional<S>>>;

/** What the initial configuration of a channel may name (specification 4.3, 4.5). */
export const creationParams = {
  announce: json(bool.default(false)),
  invite_only: json(bool.default(false)),
  is_web_public: json(bool.default(false)),
  is_default_stream: json(bool.default(false)),
  history_public_to_subscribers: json(bool.optional()),
  message_retention_days: textOrJson(retentionSchema.optional()),
  topics_policy: textOrJson(z.enum(topicsPolicies).optional()),
  folder_id: json(id.nullish()),
  send_new_subscription_messages: json(bool.optional()),
  ...ofEveryPermission(groupSettingSchema),
};

export const permissionUpdateParams = ofEveryPermission(groupSettingUpdateSchema);
