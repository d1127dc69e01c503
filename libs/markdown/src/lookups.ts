import type { Lookups, Named, RenderContext } from './context.ts';
import { unicodeEmoji } from './unicode-emoji.ts';

/** The one emoji that is neither in Unicode nor the realm's own: the server's mark. */
const serverEmoji = { name: 'zulip', url: '/static/natter-icon.svg' };

export function lookupsOf(context: RenderContext): Lookups {
  const users = byName(context.users);
  const usersById = new Map(context.users.map((user) => [user.id, user]));
  const groups = byName(context.groups);
  const channels = byName(context.channels);
  const emoji = new Map([...context.emoji].reverse().map((one) => [one.name, one]));
  return {
    user: ({ name, id }) => {
      if (id === undefined) return users(name ?? '');
      const found = usersById.get(id);
      return found && (!name || found.name.toLowerCase() === name.toLowerCase()) ? found : undefined;
    },
    group: groups,
    channel: channels,
    emoji: (name) => {
      const own = emoji.get(name);
      if (own) return { kind: 'realm', url: own.url };
      const code = unicodeEmoji(name);
      if (code !== undefined) return { kind: 'unicode', code };
      return name === serverEmoji.name ? { kind: 'realm', url: serverEmoji.url } : undefined;
    },
  };
}

/** The exact name wins over one that differs in case; of several the first one listed. */
function byName(list: readonly Named[]): (name: string) => Named | undefined {
  const exact = new Map<string, Named>();
  const lowered = new Map<string, Named>();
  for (const one of list) {
    if (!exact.has(one.name)) exact.set(one.name, one);
    const key = one.name.toLowerCase();
    if (!lowered.has(key)) lowered.set(key, one);
  }
  return (name) => exact.get(name) ?? lowered.get(name.toLowerCase());
}
