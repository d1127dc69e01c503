import { z } from 'zod';
import { keysOf } from '../model/keys.ts';
import { channelPermissions } from '../model/permission-settings.ts';
import { channelFields, ownFields } from '../operations/channels/channel-fields.ts';
import { eventsOf } from './declare.ts';
import {
  bool,
  type ChangeOf,
  channel,
  folder,
  int,
  ints,
  isNotEmpty,
  propertyOf,
  str,
  subscription,
  typed,
} from './shapes.ts';

const named = { stream_id: int, name: str.describe('The name of the channel, before the change.') };
/** `name` is the name that clients know when they receive the event: for a rename, the former one. */
type Named = z.output<z.ZodObject<typeof named>>;

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
  ...keysOf(channelPermissions),
] as const;
type ChannelValues = { [P in (typeof plain)[number]]: z.output<(typeof channelFields)[P]> };
export type PlainChannelProperty = keyof ChannelValues;
export type ChannelValue<P extends PlainChannelProperty> = ChannelValues[P];
type PlainChange = ChangeOf<ChannelValues, Named>;
const otherChanges = [
  propertyOf('name', name, named),
  propertyOf('description', description, { ...named, rendered_description: str }),
  propertyOf('invite_only', invite_only, { ...named, history_public_to_subscribers: bool, is_web_public: bool }),
] as const;
export type ChannelChange = PlainChange | z.output<(typeof otherChanges)[number]>;
const channelChangeSchema = typed<ChannelChange>(
  z.discriminatedUnion('property', [
    ...otherChanges,
    ...plain.map((property) => propertyOf(property, channelFields[property], named)),
  ]),
);

/** Values that a subscriber has set, so none of them is null. */
type OwnValues = { [P in Exclude<keyof typeof ownFields, 'color'>]: boolean } & { color: string };
export type OwnProperty = keyof OwnValues;
export type OwnValue<P extends OwnProperty> = OwnValues[P];
type OwnChange = ChangeOf<OwnValues, { stream_id: number }>;
const ownChangeSchema = typed<OwnChange>(
  z.discriminatedUnion('property', [
    propertyOf('color', ownFields.color, { stream_id: int }),
    ...Object.keys(ownFields)
      .filter((property) => property !== 'color')
      .map((property) => propertyOf(property, bool, { stream_id: int })),
  ]),
);

// The compiler does not infer that a property and its value form one member of the union.
export function channelChange<P extends PlainChannelProperty>(
  named: Named,
  property: P,
  value: ChannelValue<P>,
): ChannelChange;
export function channelChange(named: Named, property: string, value: unknown): object {
  return { property, value, ...named };
}
export function ownChange<P extends OwnProperty>(stream_id: number, property: P, value: OwnValue<P>): OwnChange;
export function ownChange(stream_id: number, property: string, value: unknown): object {
  return { property, value, stream_id };
}

const peers = z.strictObject({ stream_ids: ints, user_ids: ints });
/** A change of subscriptions: its users, its channels, and whether they were added or removed. */
const subscribed = { channel_ids: ints, user_ids: ints };

const event = eventsOf('channels');

/** Events about channels and subscriptions. */
export const channelEvents = {
  'stream/create': event('Channels appear to somebody: they are new, or access to them was gained.', {
    audience: 'users',
    body: z.strictObject({ streams: z.array(channel) }),
    note: z
      .strictObject({ is_new: z.literal(true), announce: bool.optional(), creator_id: int, channel_ids: ints })
      .optional(),
  }),
  'stream/delete': event('Channels are gone for somebody: access to them was lost, or they were archived.', {
    audience: 'users',
    body: z.strictObject({ streams: z.array(z.strictObject({ stream_id: int })), stream_ids: ints }),
  }),
  'stream/update': event('One property of a channel changed.', {
    audience: 'users',
    body: channelChangeSchema,
    // A channel without a retention of its own has that of the realm. An active channel may have the former name of an archived
    // one.
    note: z
      .strictObject({
        by: int,
        before: z.unknown().optional(),
        realm_retention_days: int.optional(),
        is_former_name_used: z.literal(true).optional(),
      })
      .optional(),
  }),
  'subscription/add': event('The receivers are subscribed to channels.', {
    audience: 'users',
    body: z.strictObject({ subscriptions: z.array(subscription) }),
    note: z
      .strictObject({
        ...subscribed,
        by: int.nullable(),
        told: z.array(z.strictObject({ user_ids: ints, names: z.array(str) })),
      })
      .optional(),
  }),
  'subscription/remove': event('The receivers are no longer subscribed to channels.', {
    audience: 'users',
    body: z.strictObject({ subscriptions: z.array(z.strictObject(named)) }),
    note: z.strictObject({ ...subscribed, by: int }).optional(),
  }),
  'subscription/update': event('A setting of a subscription changed.', {
    audience: 'users',
    body: ownChangeSchema,
  }),
  'subscription/peer_add': event('Others are subscribed to channels.', { audience: 'users', body: peers }),
  'subscription/peer_remove': event('Others are no longer subscribed to channels.', { audience: 'users', body: peers }),
  default_streams: event('The default channels, all of them.', {
    audience: 'users',
    body: z.strictObject({ default_streams: ints }),
  }),
  default_stream_groups: event('The groups of default channels, all of them.', {
    audience: 'users',
    body: z.strictObject({
      default_stream_groups: z.array(
        z.strictObject({
          id: int.describe('The ID of the group of default channels.'),
          name: str.describe('The name of the group.'),
          description: str,
          streams: ints.describe('The IDs of its channels.'),
        }),
      ),
    }),
  }),
  'channel_folder/add': event('A folder of channels is new.', {
    audience: 'realm',
    body: z.strictObject({ channel_folder: folder }),
  }),
  'channel_folder/update': event('A folder of channels changed.', {
    audience: 'realm',
    body: z.strictObject({
      channel_folder_id: int,
      data: z
        .strictObject({
          name: str.describe('The name of the folder.'),
          description: str,
          rendered_description: str,
          is_archived: bool,
        })
        .partial()
        .refine(...isNotEmpty)
        .describe('What changed.'),
    }),
  }),
  'channel_folder/reorder': event('The order of the folders of channels changed.', {
    audience: 'realm',
    body: z.strictObject({ order: ints.describe('The IDs of all folders, in their order.') }),
  }),
};
