import { type Actor, type RealmPolicy, roles } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { hasEmoticons, type RenderContext, unicodeEmoji } from '@natter/markdown';
import { emptyContext } from '@natter/renderer';
import { z } from 'zod';
import { isOn } from '../personal-settings.ts';

const nameRow = z.object({ id: z.number(), name: z.string() });
const personRow = nameRow.extend({ is_bot: z.boolean() });
const groupRow = nameRow.extend({ can_mention: z.any(), is_deactivated: z.boolean() });
type Named = z.infer<typeof nameRow>;
export type NamedGroup = z.infer<typeof groupRow>;
const emojiRow = z.object({ id: z.string(), name: z.string(), url: z.string() });

export interface Referred {
  context: RenderContext;
  groups: readonly NamedGroup[];
  /** Of the people named, those that are bots. */
  botIds: ReadonlySet<number>;
}

const groupName = /@_?\*([^*\n]+)\*/g;
export const namesGroup = (content: string): boolean => content.search(groupName) >= 0;

type Author = Pick<Actor, 'realmId' | 'userId' | 'role' | 'isSystemBot'>;

/** Looks up what a text names, of what its sender may see; a text that names nothing costs nothing. `hidden`: people they may not know. */
export async function referredBy(
  executor: Executor,
  actor: Author,
  content: string,
  policy: RealmPolicy,
  linkifiers: RenderContext['linkifiers'],
  hidden: ReadonlySet<number>,
): Promise<Referred> {
  const { realmId } = actor;
  const strong = namesIn(content, /@_?\*\*([^*\n]+)\*\*/g).map((name) => /^(.*?)(?:\|(\d{1,9}))?$/.exec(name));
  const names = strong.flatMap((match) => (match?.[1] ? [match[1]] : []));
  const ids = strong.flatMap((match) => (match?.[2] ? [Number(match[2])] : []));
  const groupNames = namesIn(content, groupName);
  const channelNames = namesIn(content, /#\*\*([^*\n>]+)/g);
  const emojiNames = namesIn(content, /:([\w+-]+):/g).filter((name) => unicodeEmoji(name) === undefined);
  const everybody =
    names.length + ids.length === 0
      ? []
      : await executor.any(sql.type(personRow)`
          SELECT user_id AS id, full_name AS name, is_bot FROM messaging.person WHERE realm_id = ${realmId} AND is_active
            AND (lower(full_name) = ANY(${lowered(names)}) OR user_id = ANY(${sql.array(ids, 'int4')})) ORDER BY user_id`);
  const people = everybody.filter((person) => !hidden.has(person.id));
  const groups =
    groupNames.length === 0
      ? []
      : await executor.any(sql.type(groupRow)`
          SELECT group_id AS id, name, can_mention, is_deactivated FROM messaging.user_group
          WHERE realm_id = ${realmId} AND lower(name) = ANY(${lowered(groupNames)})`);
  const channels = channelNames.length === 0 ? [] : await channelsSeen(executor, actor, channelNames);
  const emoji =
    emojiNames.length === 0
      ? []
      : await executor.any(sql.type(emojiRow)`
          SELECT id, name, source_url AS url FROM messaging.realm_emoji WHERE realm_id = ${realmId} AND NOT is_deactivated AND name = ANY(${sql.array(emojiNames, 'text')})`);
  const context: RenderContext = {
    ...emptyContext,
    realmUrl: policy.url,
    users: people.map(namedOnly),
    groups: groups.filter((group) => !group.is_deactivated).map(namedOnly),
    channels,
    linkifiers,
    translateEmoticons: hasEmoticons(content) && (await isOn(executor, realmId, actor.userId, 'translate_emoticons')),
    emoji,
    defaultCodeLanguage: policy.settings.default_code_block_language,
    previewMedia: policy.settings.inline_image_preview,
  };
  return { context, groups, botIds: new Set(people.filter((person) => person.is_bot).map((person) => person.id)) };
}

const namedOnly = ({ id, name }: Named): Named => ({ id, name });

async function channelsSeen(
  executor: Executor,
  { realmId, userId, role, isSystemBot }: Author,
  names: readonly string[],
): Promise<{ id: number; name: string }[]> {
  // The realm's own bots say where something was moved to, whoever may follow.
  const open = isSystemBot
    ? sql.fragment`true`
    : role === roles.guest
      ? sql.fragment`c.is_web_public`
      : sql.fragment`NOT c.is_private`;
  return [
    ...(await executor.any(sql.type(nameRow)`
      SELECT c.channel_id AS id, c.name FROM messaging.channel c WHERE c.realm_id = ${realmId} AND lower(c.name) = ANY(${lowered(names)})
        AND (${open} OR EXISTS (SELECT FROM messaging.subscription_period p WHERE p.realm_id = c.realm_id AND p.user_id = ${userId}
          AND p.channel_id = c.channel_id AND p.to_id IS NULL)) ORDER BY c.is_archived`)),
  ];
}

const namesIn = (content: string, pattern: RegExp): string[] =>
  [...content.matchAll(pattern)].map((match) => (match[1] ?? '').trim()).slice(0, 500);
/** As the database lowers what it compares with: not every letter is lowered alike elsewhere. */
const lowered = (names: readonly string[]) =>
  sql.fragment`ARRAY(SELECT lower(n) FROM unnest(${sql.array([...names], 'text')}) n)`;
