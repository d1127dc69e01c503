import { z } from 'zod';
import { emojiFields, messageFields, recipientFields, submessageFields } from '../model/message-fields.ts';
import { channelFields, folderFields, ownFields } from '../operations/channels/channel-fields.ts';
import { meaningOf } from '../vocabulary/index.ts';

/** Schemas that several events share. They are strict: an event has no other fields. */
export const int = z.int();
export const bool = z.boolean();
export const str = z.string();
/** Read-only, so that an emitter can pass a list of another owner. */
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

/** Gives a static type to a schema that is built at run time from names. */
export const typed = <T>(schema: z.ZodType): z.ZodType<T> => schema as z.ZodType<T>;

export const isNotEmpty = [(data: object): boolean => Object.keys(data).length > 0, 'something changed'] as const;

/** Beside the id, older clients read who it was. */
export const reaction = {
  ...emojiFields,
  user_id: int,
  user: z
    .strictObject({ user_id: int, email: str, full_name: str, is_mirror_dummy: bool })
    .describe('Deprecated: the user who reacted.'),
};

// A new message has no reactions.
const sentFields = { ...messageFields, reactions: z.tuple([]) };
/** Without flags, which stand beside it. */
export const message = z.discriminatedUnion('type', [
  z.strictObject({ ...sentFields, ...recipientFields.stream }),
  z.strictObject({ ...sentFields, ...recipientFields.private }),
]);
/** As stored in the log. The id is the entry's number; the timestamp is the entry's time, unless a mirroring bot stated one. */
const { id: _, ...loggedFields } = {
  ...sentFields,
  timestamp: messageFields.timestamp.optional(),
  submessages: z.array(z.strictObject(submessageFields)),
};
export const loggedMessage = z.discriminatedUnion('type', [
  z.strictObject({ ...loggedFields, ...recipientFields.stream }),
  z.strictObject({ ...loggedFields, ...recipientFields.private }),
]);

/** Without the personal fields of a subscriber. */
export const channel = z.strictObject(channelFields);
export type ChannelObject = z.output<typeof channel>;
export const subscription = z.strictObject({ ...channelFields, ...ownFields, subscribers: ints });
export const folder = z.strictObject(folderFields);
