import type { Mentionable, RenderRun } from './context.ts';
import type { InlineRule } from './inline.ts';
import { element, text } from './node.ts';

/** `@**name**`, `@**name|id**`, `@**|id**`, `@*group*`; `@_` for silent mentions. */
const MAY_PRECEDE = String.raw`(?<![^\s'"({[/<])`;
const USER = new RegExp(String.raw`${MAY_PRECEDE}@(_?)\*\*([^*]+)\*\*`, 'g');
const GROUP = new RegExp(String.raw`${MAY_PRECEDE}@(_?)\*([^*]+)\*`, 'g');
const NAME_AND_ID = /^(.+)?\|(\d{1,15})$/s;
const CHANNEL_WILDCARDS = new Set(['all', 'everyone', 'channel', 'stream']);
const TOPIC_WILDCARD = 'topic';

/** Display names of the system groups of every organization. */
const SYSTEM_GROUPS = new Map([
  ['role:internet', 'Everyone on the internet'],
  ['role:everyone', 'Everyone'],
  ['role:members', 'Members'],
  ['role:fullmembers', 'Full members'],
  ['role:moderators', 'Moderators'],
  ['role:administrators', 'Administrators'],
  ['role:owners', 'Owners'],
  ['role:nobody', 'Nobody'],
]);

/** Mentions of users and wildcards. */
export const userMention: InlineRule = (content, inline) =>
  content.includes('@')
    ? content.replace(USER, (whole, underscore: string, name: string) => {
        const silent = isSilentAsked(underscore, inline.run);
        const found = wildcard(name, silent, inline.run) ?? user(name, silent, inline.run);
        return found ? inline.mark([found], whole) : whole;
      })
    : content;

export const groupMention: InlineRule = (content, inline) =>
  content.includes('@')
    ? content.replace(GROUP, (whole, underscore: string, name: string) => {
        const group = inline.run.find.group(name);
        if (group === undefined) return whole;
        const silent = isSilent(isSilentAsked(underscore, inline.run), group);
        if (!silent) inline.run.mentions.groupIds.add(group.id);
        const shown = SYSTEM_GROUPS.get(group.name) ?? group.name;
        return inline.mark(
          [span('user-group-mention', shown, silent, { 'data-user-group-id': String(group.id) })],
          whole,
        );
      })
    : content;

/** A line of a quote: its mentions become silent. */
export const silenced = (line: string): string =>
  line.includes('@') ? line.replace(USER, '@_**$2**').replace(GROUP, '@_*$2*') : line;

const isSilentAsked = (underscore: string, { context }: RenderRun): boolean =>
  underscore !== '' || context.areMentionsSilent === true;

/** Deactivated users and groups can be mentioned, but are not notified. */
const isSilent = (asked: boolean, { isDeactivated }: Mentionable): boolean => asked || isDeactivated === true;

function wildcard(name: string, silent: boolean, { mentions }: RenderRun) {
  if (name === TOPIC_WILDCARD) {
    if (!silent) mentions.topicWildcard = true;
    return span('topic-mention', name, silent);
  }
  if (!CHANNEL_WILDCARDS.has(name)) return undefined;
  if (!silent) mentions.channelWildcard = true;
  return span('user-mention channel-wildcard-mention', name, silent, { 'data-user-id': '*' });
}

function user(content: string, silentAsked: boolean, { find, mentions }: RenderRun) {
  const parts = NAME_AND_ID.exec(content);
  const name = parts?.[1];
  const byId = parts === null ? undefined : find.user({ id: Number(parts[2]), ...(name ? { name } : {}) });
  const found = byId ?? find.user({ name: content });
  if (found === undefined) return undefined;
  const silent = isSilent(silentAsked, found);
  (silent ? mentions.silentUserIds : mentions.userIds).add(found.id);
  return span('user-mention', found.name, silent, { 'data-user-id': String(found.id) });
}

function span(kind: string, name: string, silent: boolean, attributes: Record<string, string> = {}) {
  const shown = text(`${silent ? '' : '@'}${name}`);
  return element('span', { class: `${kind}${silent ? ' silent' : ''}`, ...attributes }, [shown]);
}
