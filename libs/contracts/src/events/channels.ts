import { z } from 'zod';
import { channelPermissions } from '../permission-settings.ts';
import { bool, channel, channelFields, folder, int, ints, ownFields, propertyOf, str, subscription } from './shapes.ts';

const named = { stream_id: int, name: str };
const told = <N extends keyof typeof channelFields>(property: N) =>
  propertyOf(property, channelFields[property], named);

const { name, description, invite_only } = channelFields;
const plain = [
  'is_archived',
  'stream_post_policy',
  'is_announcement_only',
  'message_retention_days',
  'history_public_to_subscribers',
  'topics_policy',
  'first_message_id',
  'folder_id',
  'is_recently_active',
  'stream_weekly_traffic',
  'subscriber_count',
  ...(Object.keys(channelPermissions) as (keyof typeof channelPermissions)[]),
] as const;
const channelChange = z.discriminatedUnion('property', [
  propertyOf('name', name, named),
  propertyOf('description', description, { ...named, rendered_description: str }),
  propertyOf('invite_only', invite_only, { ...named, history_public_to_subscribers: bool, is_web_public: bool }),
  ...plain.map(told),
]);

/** A subscriber's own values are given by them, so none of them is null. */
const ownChange = z.discriminatedUnion('property', [
  propertyOf('color', ownFields.color, { stream_id: int }),
  ...Object.keys(ownFields)
    .filter((property) => property !== 'color')
    .map((property) => propertyOf(property, bool, { stream_id: int })),
]);
const peers = z.strictObject({ stream_ids: ints, user_ids: ints });

/** Channels, and how people stand to them. */
export const channelEvents = {
  'stream/create': z.strictObject({ streams: z.array(channel) }),
  'stream/delete': z.strictObject({ streams: z.array(z.strictObject({ stream_id: int })), stream_ids: ints }),
  'stream/update': channelChange,
  'subscription/add': z.strictObject({ subscriptions: z.array(subscription) }),
  'subscription/remove': z.strictObject({ subscriptions: z.array(z.strictObject(named)) }),
  'subscription/update': ownChange,
  'subscription/peer_add': peers,
  'subscription/peer_remove': peers,
  default_streams: z.strictObject({ default_streams: ints }),
  default_stream_groups: z.strictObject({
    default_stream_groups: z.array(z.strictObject({ id: int, name: str, description: str, streams: ints })),
  }),
  'channel_folder/add': z.strictObject({ channel_folder: folder }),
  'channel_folder/update': z.strictObject({
    channel_folder_id: int,
    data: z
      .strictObject({ name: str, description: str, rendered_description: str, is_archived: bool })
      .partial()
      .refine((data) => Object.keys(data).length > 0, 'something changed'),
  }),
  'channel_folder/reorder': z.strictObject({ order: ints }),
  user_topic: z.strictObject({
    stream_id: int,
    topic_name: str,
    last_updated: int,
    visibility_policy: z.int().min(0).max(3),
  }),
  muted_topics: z.strictObject({ muted_topics: z.array(z.tuple([str, str, int])) }),
};
