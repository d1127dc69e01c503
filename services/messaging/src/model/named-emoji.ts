import { badRequest } from '@natter/contracts';
import { emojiNames, unicodeEmoji } from '@natter/markdown';

export interface Emoji {
  emoji_name: string;
  emoji_code: string;
  reaction_type: 'unicode_emoji' | 'realm_emoji' | 'zulip_extra_emoji';
}

/** A usable custom emoji of the realm by name or id; undefined if there is none. */
export interface RealmEmoji {
  byName(name: string): { id: string; name: string } | undefined;
  byId(id: string): { id: string; name: string } | undefined;
}

/** The emoji with a name: the realm's own emoji take precedence. */
export function emojiByName(name: string, realm: RealmEmoji): Emoji {
  const own = realm.byName(name);
  if (own) return { emoji_name: name, emoji_code: own.id, reaction_type: 'realm_emoji' };
  if (name === 'zulip') return { emoji_name: name, emoji_code: 'zulip', reaction_type: 'zulip_extra_emoji' };
  const code = unicodeEmoji(name);
  if (code === undefined) throw badRequest(`Emoji '${name}' does not exist`);
  return { emoji_name: name, emoji_code: code, reaction_type: 'unicode_emoji' };
}

/** An emoji given by its code may have a name that is no longer valid. */
export function typeByName(name: string, realm: RealmEmoji): string {
  if (realm.byName(name)) return 'realm_emoji';
  return name === 'zulip' ? 'zulip_extra_emoji' : 'unicode_emoji';
}

/** An emoji given by name, code and type, which must match. */
export function checkedEmoji(name: string, code: string, type: string, realm: RealmEmoji): Emoji {
  switch (type) {
    case 'unicode_emoji': {
      const names = emojiNames.get(code);
      if (names === undefined) throw badRequest('Invalid emoji code.');
      if (!names.includes(name)) throw badRequest('Invalid emoji name.');
      return { emoji_name: name, emoji_code: code, reaction_type: type };
    }
    case 'realm_emoji': {
      const own = realm.byId(code);
      if (own === undefined) throw badRequest('Invalid custom emoji.');
      if (own.name !== name) throw badRequest('Invalid custom emoji name.');
      return { emoji_name: name, emoji_code: code, reaction_type: type };
    }
    case 'zulip_extra_emoji':
      if (code !== 'zulip') throw badRequest('Invalid emoji code.');
      if (name !== 'zulip') throw badRequest('Invalid emoji name.');
      return { emoji_name: name, emoji_code: code, reaction_type: type };
    default:
      throw badRequest('Invalid emoji type.');
  }
}
