import { z } from 'zod';
import { id, list, string } from '../../model/bounded.ts';
import { operation } from '../../model/operation.ts';
import { bool, json, text, textOrJson } from '../../model/param.ts';
import { permissionUpdateParams, retentionSchema, topicsPolicies } from './parameters.ts';

const channel = z
  .looseObject({ stream_id: z.int(), name: z.string().describe('The name of the channel.') })
  .describe('The channel.');
const stream_id = json(id);

export const channelSettingsOperations = {
  getChannels: operation({
    name: 'get-channels',
    service: 'channels',
    http: { method: 'GET', path: '/streams' },
    weight: 3,
    summary: 'The channels that the caller may know, as filtered.',
    params: {
      include_public: json(bool.default(true)),
      include_web_public: json(bool.default(false)),
      include_subscribed: json(bool.default(true)),
      exclude_archived: json(bool.default(true)),
      include_all: json(bool.default(false)),
      include_all_active: json(bool.default(false)),
      include_default: json(bool.default(false)),
      include_owner_subscribed: json(bool.default(false)),
      include_can_access_content: json(bool.default(false)),
    },
    result: z.object({ streams: z.array(channel) }),
    errors: ['BAD_REQUEST'],
  }),
  getChannel: operation({
    name: 'get-channel',
    service: 'channels',
    http: { method: 'GET', path: '/streams/{stream_id}' },
    summary: 'A channel by its ID.',
    params: { stream_id },
    result: z.object({ stream: channel }),
    errors: ['BAD_REQUEST'],
  }),
  getStreamId: operation({
    name: 'get-stream-id',
    service: 'channels',
    http: { method: 'GET', path: '/get_stream_id' },
    summary: "A channel's ID by its name.",
    params: { stream: text(string(1_000).describe('The name of the channel.')) },
    result: z.object({ stream_id: z.int() }),
    errors: ['BAD_REQUEST'],
  }),
  /** Called on behalf of the user who names the default channels of a bot. */
  getKnownNames: operation({
    name: 'get-known-names',
    service: 'channels',
    caller: 'internal',
    callers: ['users'],
    summary: 'How the names of channels are spelled; refuses those that the actor may not know. Bus only.',
    params: { names: json(list(string(1_000), 2)) },
    result: z.object({ names: z.array(z.string()) }),
    errors: ['BAD_REQUEST'],
    isReadOnly: true,
  }),
  getChannelEmail: operation({
    name: 'get-channel-email',
    service: 'channels',
    http: { method: 'GET', path: '/streams/{stream_id}/email_address' },
    summary: "A channel's address for mail.",
    params: {
      stream_id,
      sender_id: json(
        id.describe('The ID of the user or bot in whose name mail is posted. By default the caller.').optional(),
      ),
    },
    result: z.object({ email: z.string().describe('The address to which mail for the channel is sent.') }),
    errors: ['BAD_REQUEST'],
  }),
  updateChannel: operation({
    name: 'update-channel',
    service: 'channels',
    http: { method: 'PATCH', path: '/streams/{stream_id}' },
    weight: 3,
    // The search for named topics may read all messages of the channel.
    weigh: ({ topics_policy }) => (topics_policy === 'empty_topic_only' ? 4 : 0),
    summary: 'Change the settings of a channel, or bring it back from the archive.',
    params: {
      stream_id,
      new_name: text(
        string(1_000).describe('The new name of the channel, at most `max_stream_name_length` characters.').optional(),
      ),
      description: text(string(5_000).optional()),
      is_private: json(bool.optional()),
      is_web_public: json(bool.optional()),
      history_public_to_subscribers: json(bool.optional()),
      is_default_stream: json(bool.optional()),
      message_retention_days: textOrJson(retentionSchema.optional()),
      is_archived: json(bool.optional()),
      folder_id: json(id.nullish()),
      topics_policy: textOrJson(z.enum(topicsPolicies).optional()),
      ...permissionUpdateParams,
    },
    errors: ['EXPECTATION_MISMATCH', 'BAD_REQUEST'],
    events: ['stream', 'subscription', 'default_streams', 'default_stream_groups', 'realm'],
  }),
  archiveChannel: operation({
    name: 'archive-channel',
    service: 'channels',
    http: { method: 'DELETE', path: '/streams/{stream_id}' },
    weight: 3,
    summary: 'Archive a channel.',
    params: { stream_id },
    errors: ['BAD_REQUEST'],
    events: ['stream', 'subscription', 'default_streams', 'default_stream_groups', 'realm'],
  }),
};
