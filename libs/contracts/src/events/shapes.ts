import { z } from 'zod';
import { emojiFields, messageFields, recipientFields, submessageFields } from '../model/message-fields.ts';
import { channelFields, folderFields, ownFields } from '../operations/channels/channel-fields.ts';
import { meaningOf } from '../vocabulary/index.ts';

/** Schemas that several events share. They are strict: an event has no other fields. */
export const int = z.int();
export const bool = z.boolean();
export const str = z.string();
/** The type is read-only, so that an emitter can pass a list that it may not change. */
export const ints: z.ZodType<readonly number[]> = z.array(int);

/** A change of one property; the type of the value depends on the property. */
export const propertyOf = <P extends string, S extends z.ZodType, R extends z.ZodRawShape = Record<never, never>>(
  property: P,
  value: S,
  rest: R = {} as R,
) =>
  z.strictObject({
    ...rest,
    property: z.literal(property).describe('The name of what changed.'),
    value: value.description ? value : value.describe(meaningOf(property) ?? 'The new value.'),
  });

/** A change of one of several properties with these values; `R`: further fields. */
export type ChangeOf<V, R = unknown> = { [K in keyof V]: R & { property: K; value: V[K] } }[keyof V];

/** Casts a schema that is built at run time to the given static type. */
export const typed = <T>(schema: z.ZodType): z.ZodType<T> => schema as z.ZodType<T>;

export const isNotEmpty = [(data: object): boolean => Object.keys(data).length > 0, 'something changed'] as const;

/** `user` is for older clients, which do not read `user_id`. */
export const reaction = {
  ...emojiFields,
  user_id: int,
  user: z
    .strictObject({ user_id: int, email: str, full_name: str, is_mirror_dummy: bool })
    .describe('Deprecated: the user who reacted.'),
};

// A new message has no reactions.
const sentFields = { ...messageFields, reactions: z.tuple([]) };
/** A new message without flags: the event contains them in a separate field. */
export const message = z.discriminatedUnion('type', [
  z.strictObject({ ...sentFields, ...recipientFields.stream }),
  z.strictObject({ ...sentFields, ...recipientFields.private }),
]);
/**
 * The fields of a message as they are stored in the log: without `id`, which is the number of the entry, and with
 * `timestamp` only if a mirroring bot stated the time. Otherwise the timestamp is the time of the entry.
 */
const { id: _, ...loggedFields } = {
  ...sentFields,
  timestamp: messageFields.timestamp.optional(),
  submessages: z.array(z.strictObject(submessageFields)),
};
export const loggedMessage = z.discriminatedUnion('type', [
  z.strictObject({ ...loggedFields, ...recipientFields.stream }),
  z.strictObject({ ...loggedFields, ...recipientFields.private }),
]);

/** A channel without the settings of a subscriber. */
export const channel = z.strictObject(channelFields);
export type ChannelObject = z.output<typeof channel>;
export const subscription = z.strictObject({ ...channelFields, ...ownFields, subscribers: ints });
export const folder = z.strictObject(folderFields);
