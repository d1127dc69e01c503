import { z } from 'zod';
import { id, string, union } from '../../model/bounded.ts';
import { operation } from '../../model/operation.ts';
import { textOrJson } from '../../model/param.ts';
import { channelPermissionsSchema } from '../../vocabulary/channel-permissions.ts';
import { topicsPolicies } from './parameters.ts';

/**
 * The properties of a channel that other services use in decisions. Such a decision is committed with the expected version
 * `channel:<channel_id>@<version>`. `@natter/permissions` evaluates the permissions.
 */
const postingRulesSchema = z.object({
  channel_id: z.int(),
  version: z.int(),
  name: z.string(),
  is_private: z.boolean(),
  is_web_public: z.boolean(),
  is_archived: z.boolean(),
  /** Whether subscribers see messages from before their subscription; always true unless the channel is private. */
  history_public: z.boolean(),
  topics_policy: z.enum(topicsPolicies),
  /** null inherits from the realm, -1 keeps messages forever. */
  message_retention_days: z.int().nullable(),
  creator_id: z.int().nullable(),
  permissions: channelPermissionsSchema,
  /** The active users among the subscribers. */
  subscribers: z.union([z.object({ ids: z.array(z.int()) }), z.object({ offset: z.int(), bits: z.string() })]),
});
export type PostingRules = z.infer<typeof postingRulesSchema>;

export const postingRulesOperations = {
  getPostingRules: operation({
    name: 'get-posting-rules',
    service: 'channels',
    caller: 'internal',
    callers: ['users', 'messaging', 'scheduler'],
    summary: 'What messaging caches of a channel, with its version. Bus only.',
    params: { channel: textOrJson(union([id, string(1_000)])) },
    result: postingRulesSchema,
    errors: ['STREAM_DOES_NOT_EXIST'],
    isReadOnly: true,
  }),
};
