import type { Lookups, Mentionable, RenderContext } from './context.ts';
import { unicodeEmoji } from './unicode-emoji.ts';

/** The only emoji that is neither in Unicode nor defined by a realm. */
const serverEmoji = { name: 'zulip', url: '/static/generated/emoji/images/emoji/unicode/zulip.png' };

export function lookupsOf(context: RenderContext): Lookups {
  const users = byName(context.users);
  const usersById = keyed(context.users, ({ id }) => id);
  const channels = keyed(context.channels.toReversed(), ({ name }) => name);
  const topicKey = (channelId: number, name: string): string => `${channelId} ${name.toLowerCase()}`;
  const topics = keyed(context.topics, ({ channelId, name }) => topicKey(channelId, name));
  const emoji = keyed(context.emoji.toReversed(), ({ name }) => name);
  return {
    user: ({ name, id }) => {
      if (id === undefined) return users(name ?? '');
      const found = usersById.get(id);
      return found && (!name || found.name === name) ? found : undefined;
    },
    group: byName(context.groups),
    channel: (name) => channels.get(name),
    latestMessageId: (channelId, topic) => topics.get(topicKey(channelId, topic))?.messageId,
    emoji: (name) => {
      const own = emoji.get(name);
      if (own) return { kind: 'realm', url: own.url };
      const code = unicodeEmoji(name);
      if (code !== undefined) return { kind: 'unicode', code };
      return name === serverEmoji.name ? { kind: 'realm', url: serverEmoji.url } : undefined;
    },
  };
}

const none = new Map<never, never>();

/** The objects by key; of several with the same key the last. Most messages refer to none. */
const keyed = <K, T>(list: readonly T[], keyOf: (one: T) => K): ReadonlyMap<K, T> =>
  list.length === 0 ? none : new Map(list.map((one) => [keyOf(one), one]));

/** An exact match takes precedence over one that differs in case; among several the first listed. */
function byName(list: readonly Mentionable[]): (name: string) => Mentionable | undefined {
  const exact = keyed(list.toReversed(), ({ name }) => name);
  const anyCase = keyed(list.toReversed(), ({ name }) => name.toLowerCase());
  return (name) => exact.get(name) ?? anyCase.get(name.toLowerCase());
}
