import type { Lookups, Mentionable, RenderContext } from './context.ts';
import { unicodeEmoji } from './unicode-emoji.ts';

/** The only emoji that is neither in Unicode nor defined by a realm. */
const serverEmoji = { name: 'zulip', url: '/static/generated/emoji/images/emoji/unicode/zulip.png' };

export function lookupsOf(context: RenderContext): Lookups {
  const users = byName(context.users);
  const usersById = new Map(context.users.map((user) => [user.id, user]));
  const channels = new Map([...context.channels].reverse().map((channel) => [channel.name, channel]));
  const topicKey = (channelId: number, name: string): string => `${channelId} ${name.toLowerCase()}`;
  const topics = new Map(context.topics.map((topic) => [topicKey(topic.channelId, topic.name), topic.messageId]));
  const emoji = new Map([...context.emoji].reverse().map((one) => [one.name, one]));
  return {
    user: ({ name, id }) => {
      if (id === undefined) return users(name ?? '');
      const found = usersById.get(id);
      return found && (!name || found.name === name) ? found : undefined;
    },
    group: byName(context.groups),
    channel: (name) => channels.get(name),
    latestMessageId: (channelId, topic) => topics.get(topicKey(channelId, topic)),
    emoji: (name) => {
      const own = emoji.get(name);
      if (own) return { kind: 'realm', url: own.url };
      const code = unicodeEmoji(name);
      if (code !== undefined) return { kind: 'unicode', code };
      return name === serverEmoji.name ? { kind: 'realm', url: serverEmoji.url } : undefined;
    },
  };
}

/** An exact match takes precedence over one that differs in case; among several the first listed. */
function byName(list: readonly Mentionable[]): (name: string) => Mentionable | undefined {
  const exact = new Map([...list].reverse().map((one) => [one.name, one]));
  const anyCase = new Map([...list].reverse().map((one) => [one.name.toLowerCase(), one]));
  return (name) => exact.get(name) ?? anyCase.get(name.toLowerCase());
}
