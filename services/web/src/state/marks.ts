import type { ChatEvent } from '@natter/client';
import { isMention } from './place.ts';
import type { Snapshot } from './snapshot.ts';

interface RealmEmoji {
  id: string;
  name: string;
  url: string;
  authorId: number | null;
}

/** The mentions and stars of the reader, and the emoji of the organisation. */
export interface Marks {
  /** Unread messages that mention the reader, also those of archived channels. */
  mentions: ReadonlySet<number>;
  starred: ReadonlySet<number>;
  /** Active custom emoji by id. */
  emoji: ReadonlyMap<string, RealmEmoji>;
}

const emojiOf = (raw: Snapshot['realm_emoji']): ReadonlyMap<string, RealmEmoji> =>
  new Map(
    Object.values(raw).flatMap(({ id, name, source_url, author_id, deactivated }) =>
      deactivated ? [] : [[id, { id, name, url: source_url, authorId: author_id }]],
    ),
  );

export function marksOf(raw: Pick<Snapshot, 'unread_msgs' | 'starred_messages' | 'realm_emoji'>): Marks {
  return {
    mentions: new Set(raw.unread_msgs.mentions),
    starred: new Set(raw.starred_messages),
    emoji: emojiOf(raw.realm_emoji),
  };
}

const plus = (set: ReadonlySet<number>, ids: readonly number[]): ReadonlySet<number> => new Set([...set, ...ids]);

export const minus = (set: ReadonlySet<number>, ids: readonly number[]): ReadonlySet<number> =>
  ids.some((id) => set.has(id)) ? new Set([...set].filter((id) => !ids.includes(id))) : set;

/** `isUnread`: of a message before the event. */
export function applyToMarks(marks: Marks, event: ChatEvent, isUnread: (id: number) => boolean): Marks {
  switch (event.type) {
    case 'message': {
      const isNew = isMention(event.flags) && !event.flags.includes('read');
      return isNew ? { ...marks, mentions: plus(marks.mentions, [event.message.id]) } : marks;
    }
    case 'update_message': {
      if (event.rendered_content === undefined) return marks;
      // Flags that the reader sets may be older than those of the model.
      const isNew = isMention(event.flags) && isUnread(event.message_id);
      const others = minus(marks.mentions, [event.message_id]);
      return { ...marks, mentions: isNew ? plus(others, [event.message_id]) : others };
    }
    case 'delete_message': {
      const ids = 'message_ids' in event ? event.message_ids : [event.message_id];
      return { ...marks, mentions: minus(marks.mentions, ids), starred: minus(marks.starred, ids) };
    }
    case 'update_message_flags':
      return flagged(marks, event);
    case 'realm_emoji':
      return event.op === 'update' ? { ...marks, emoji: emojiOf(event.realm_emoji) } : marks;
    default:
      return marks;
  }
}

function flagged(marks: Marks, event: Extract<ChatEvent, { type: 'update_message_flags' }>): Marks {
  if (event.flag === 'starred') {
    const { starred } = marks;
    return { ...marks, starred: event.op === 'add' ? plus(starred, event.messages) : minus(starred, event.messages) };
  }
  if (event.flag !== 'read') return marks;
  if (event.op === 'add') return { ...marks, mentions: minus(marks.mentions, event.messages) };
  const again = Object.entries(event.message_details ?? {}).flatMap(([id, { mentioned }]) =>
    mentioned === true ? [Number(id)] : [],
  );
  return { ...marks, mentions: plus(marks.mentions, again) };
}
