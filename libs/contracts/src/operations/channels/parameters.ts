import { z } from 'zod';
import { type BoundedValue, id, union } from '../../model/bounded.ts';
import { keysOf, recordOf } from '../../model/keys.ts';
import { bool, json, type Param, textOrJson } from '../../model/param.ts';
import {
  type ChannelPermission,
  groupSettingSchema,
  groupSettingUpdateSchema,
} from '../../model/permission-settings.ts';
import { channelPermissionMeanings } from '../../vocabulary/permissions.ts';

export const topicsPolicies = ['inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only'] as const;

/** A number of days, or one of two words. */
export const retentionSchema = union([id, z.enum(['realm_default', 'unlimited'])]);

const ofEveryPermission = <S extends BoundedValue>(
  make: (meaning: string) => S,
): Record<ChannelPermission, Param<z.ZodOptional<S>>> =>
  recordOf(keysOf(channelPermissionMeanings), (name) => json(z.optional(make(channelPermissionMeanings[name]))));

/** The default of `send_new_subscription_messages`. Gateways of releases before the last one send no value. */
export const sendsNewSubscriptionMessages = true;

/** The initial configuration of a channel, for both operations that create channels. */
export const creationParams = {
  announce: json(bool.default(false)),
  invite_only: json(bool.default(false)),
  is_web_public: json(bool.default(false)),
  is_default_stream: json(bool.default(false)),
  history_public_to_subscribers: json(bool.optional()),
  message_retention_days: textOrJson(retentionSchema.optional()),
  topics_policy: textOrJson(z.enum(topicsPolicies).optional()),
  folder_id: json(id.nullish()),
  send_new_subscription_messages: json(bool.default(sendsNewSubscriptionMessages)),
  ...ofEveryPermission((meaning) => groupSettingSchema.describe(meaning)),
};

/** `formerParams` of these operations: a default was added. */
export const withoutAddedDefault = <P extends { send_new_subscription_messages: boolean }>({
  send_new_subscription_messages: isSent,
  ...others
}: P) => (isSent === sendsNewSubscriptionMessages ? [others] : []);

export const permissionUpdateParams = ofEveryPermission((meaning) => groupSettingUpdateSchema.describe(meaning));
