import { z } from 'zod';
import { id, string } from '../../model/bounded.ts';
import { operation, pageSchema } from '../../model/operation.ts';
import { json, text } from '../../model/param.ts';
import { file } from './uploaded-picture.ts';

export const realmEmojiSchema = z.object({
  id: z.string().describe('The ID of the custom emoji.'),
  name: z.string().describe('The name of the emoji, without colons.'),
  source_url: z.string(),
  still_url: z.string().nullable(),
  deactivated: z.boolean(),
  author_id: z.int().nullable(),
});
export type RealmEmoji = z.infer<typeof realmEmojiSchema>;

export const realmEmojiOperations = {
  getRealmEmoji: operation({
    name: 'get-realm-emoji',
    service: 'users',
    http: { method: 'GET', path: '/realm/emoji' },
    summary: 'Custom emoji, deactivated ones too.',
    result: z.object({ emoji: z.record(z.string(), realmEmojiSchema).describe('The custom emoji, by ID.') }),
  }),
  addRealmEmoji: operation({
    name: 'add-realm-emoji',
    service: 'users',
    http: { method: 'POST', path: '/realm/emoji/{emoji_name}' },
    permission: 'can_add_custom_emoji_group',
    summary: 'Upload a custom emoji.',
    weight: 5,
    params: { emoji_name: text(string(1_000)), file },
    errors: ['BAD_REQUEST', 'BAD_IMAGE'],
    events: ['realm_emoji'],
  }),
  emojiPicture: operation({
    name: 'emoji-picture',
    service: 'users',
    page: { method: 'GET', path: '/user_avatars/emoji/{emoji_id}' },
    caller: 'public',
    summary: 'The picture of a custom emoji.',
    params: { emoji_id: json(id) },
    result: pageSchema,
    isReadOnly: true,
  }),
  removeRealmEmoji: operation({
    name: 'remove-realm-emoji',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/emoji/{emoji_name}' },
    summary: 'Deactivate a custom emoji.',
    params: { emoji_name: text(string(1_000)) },
    errors: ['BAD_REQUEST'],
    events: ['realm_emoji'],
  }),
  emojiData: operation({
    name: 'emoji-data',
    service: 'users',
    page: { method: 'GET', path: '/static/emoji_data.json' },
    caller: 'public',
    summary: 'Names of every Unicode emoji by its code.',
    result: pageSchema,
  }),
};
