import type { Random } from '../../random.ts';

/** Maximum number of values per kind; newer ones replace older ones. */
const perKind = 128;

/**
 * Values of the system under test by kind, collected from answers: ids, names, addresses, queues, paths. Requests built
 * from them reach state that random values never would.
 */
export interface Dictionary {
  add(kind: string, value: string | number): void;
  pick(kind: string, random: Random): string | number | undefined;
  size(kind: string): number;
}

export function createDictionary(): Dictionary {
  const kinds = new Map<string, { values: (string | number)[]; known: Set<string | number>; next: number }>();
  return {
    add(kind, value) {
      const entry = kinds.get(kind) ?? { values: [], known: new Set(), next: 0 };
      kinds.set(kind, entry);
      if (entry.known.has(value) || (typeof value === 'string' && value.length > 300)) return;
      const replaced = entry.values[entry.next];
      if (replaced !== undefined) entry.known.delete(replaced);
      entry.values[entry.next] = value;
      entry.known.add(value);
      entry.next = (entry.next + 1) % perKind;
    },
    pick(kind, random) {
      const values = kinds.get(kind)?.values;
      return values && values.length > 0 ? random.pick(values) : undefined;
    },
    size: (kind) => kinds.get(kind)?.values.length ?? 0,
  };
}

const kindOfName: Record<string, string> = {
  stream_id: 'channel',
  stream_ids: 'channel',
  channel_id: 'channel',
  moderation_request_channel_id: 'channel',
  new_stream_announcements_stream_id: 'channel',
  signup_announcements_stream_id: 'channel',
  zulip_update_announcements_stream_id: 'channel',
  user_id: 'user',
  user_ids: 'user',
  sender_id: 'user',
  creator_id: 'user',
  principals: 'user',
  subscribers: 'user',
  members: 'user',
  add: 'user',
  delete: 'user',
  direct_members: 'user',
  muted_user_id: 'user',
  bot_owner_id: 'user',
  user_id_or_email: 'email',
  username: 'email',
  who: 'email',
  delivery_email: 'email',
  new_email: 'email',
  bot_id: 'bot',
  message_id: 'message',
  message_ids: 'message',
  messages: 'message',
  msg_ids: 'message',
  anchor: 'message',
  pointer: 'message',
  max_message_id: 'message',
  user_group_id: 'group',
  group_ids: 'group',
  subgroups: 'group',
  direct_subgroups: 'group',
  direct_subgroup_ids: 'group',
  add_subgroups: 'group',
  delete_subgroups: 'group',
  folder_id: 'folder',
  channel_folder_id: 'folder',
  group_id: 'default-group',
  stream: 'channel-name',
  stream_names: 'channel-name',
  new_name: 'channel-name',
  default_sending_stream: 'channel-name',
  default_events_register_stream: 'channel-name',
  topic_name: 'topic',
  subject: 'topic',
  ordered_linkifier_ids: 'filter_id',
};

/** The kind of a parameter or field; by default the field is its own kind. */
export const kindOf = (name: string): string =>
  kindOfName[name] ?? (/^can_\w+_group$|_groups?$/.test(name) ? 'group' : name);

/** The kind of `id` in the items of a list. */
const kindOfItems: Record<string, string> = {
  messages: 'message',
  drafts: 'draft_id',
  user_groups: 'group',
  custom_fields: 'field_id',
  saved_snippets: 'saved_snippet_id',
  invites: 'invite_id',
  attachments: 'attachment_id',
  api_keys: 'key_id',
  linkifiers: 'filter_id',
  exports: 'export_id',
  channel_folders: 'folder',
  default_stream_groups: 'default-group',
};

/** The kind of `id` in an operation's answer. */
const kindOfResult: Record<string, string> = {
  'send-message': 'message',
  'test-welcome-message': 'message',
  'create-channel': 'channel',
  'create-profile-field': 'field_id',
  'add-linkifier': 'filter_id',
  'add-playground': 'playground_id',
  'create-export': 'export_id',
};

const textFields = new Set(['email', 'delivery_email', 'queue_id', 'full_name', 'fragment', 'emoji_name', 'domain']);

/** Collects values from an answer. */
export function harvest(dictionary: Dictionary, operation: string, answer: unknown): void {
  let left = 400;
  visit(answer, '', 0);

  function visit(value: unknown, list: string, depth: number): void {
    if (depth > 6 || left-- <= 0 || typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value.slice(-20)) visit(item, list, depth);
      return;
    }
    for (const [key, item] of Object.entries(value)) {
      if (typeof item === 'number') number(key, item, list);
      else if (typeof item === 'string') text(key, item, list);
      else if (key === 'ids' && Array.isArray(item)) for (const id of item) dictionary.add('draft_id', Number(id));
      else visit(item, key, depth + 1);
    }
  }

  function number(key: string, value: number, list: string): void {
    if (!Number.isSafeInteger(value)) return;
    if (key === 'id') {
      const kind = list === '' ? kindOfResult[operation] : kindOfItems[list];
      if (kind) dictionary.add(kind, value);
    } else if (key.endsWith('_id')) dictionary.add(operation === 'create-user-group' ? 'group' : kindOf(key), value);
    if (operation === 'create-bot' && key === 'user_id') dictionary.add('bot', value);
  }

  function text(key: string, value: string, list: string): void {
    if (textFields.has(key)) dictionary.add(kindOf(key), value);
    else if (key === 'name' && (list === 'streams' || list === 'stream')) dictionary.add('channel-name', value);
    else if (key === 'topic' || key === 'subject' || (key === 'name' && list === 'topics'))
      dictionary.add('topic', value);
    else if (key === 'url' || key === 'uri' || key === 'path_id' || key === 'avatar_url') path(value);
    else if (key === 'invite_link' || key === 'link_url')
      dictionary.add('key', value.split('/').filter(Boolean).at(-1) ?? '');
    else if (key === 'emoji_code' || key === 'description') return;
  }

  function path(value: string): void {
    const at = value.replace(/^https?:\/\/[^/]+/, '').replace(/\?.*$/, '');
    dictionary.add('path', at);
    // Paths of files are added as a whole, because combined parts of different paths would be no path of a file.
    const upload = /^\/?user_uploads\/(temporary\/)?(.+)$/.exec(at);
    if (upload) dictionary.add(upload[1] ? 'temporary' : 'upload', upload[2] ?? '');
  }
}
