import { type Actor, type GroupSetting, type RequestMeta, roles } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { hasEmoticons, type MarkdownSource, type RenderContext } from '@natter/markdown';
import { z } from 'zod';
import type { ChannelAccess } from '../channel-access.ts';
import { externalContentKey } from '../external-content-key.ts';
import { isWebhook } from '../people.ts';
import { isOn } from '../personal-settings.ts';
import { isSeenBy } from '../subscription-periods.ts';
import type { Sender } from './sender-facts.ts';

const nameRow = z.object({ id: z.number(), name: z.string() });
const personRow = nameRow.extend({ is_bot: z.boolean(), is_active: z.boolean(), is_webhook: z.boolean() });
const groupRow = nameRow.extend({ can_mention: z.custom<GroupSetting>(), is_deactivated: z.boolean() });
type Named = z.infer<typeof nameRow>;
type Person = z.infer<typeof personRow>;
type NamedGroup = z.infer<typeof groupRow>;
const emojiRow = z.object({ id: z.string(), name: z.string(), url: z.string() });

export interface Referred {
  context: RenderContext;
  groups: readonly NamedGroup[];
  /** The bots among the named users. */
  botIds: ReadonlySet<number>;
  /** The outgoing webhook bots among them. */
  webhookIds: ReadonlySet<number>;
}

/** Whether a text may link media without linkifiers. It must not miss what `@natter/markdown` shows. */
const showsMedia = /\.\w|:/;

const groupName = /@_?\*([^*\n]+)\*/g;
/** Whether a text may mention a group, so that its members and rights count. A silent mention needs the name alone. */
export const mentionsGroup = (content: MarkdownSource): boolean => /@\*[^*\n]+\*/.test(content);

/** `public`: all public ones, for a notice of a release that stored no list. */
export type LinkedChannels = readonly number[] | 'public';

interface LookingUp {
  database: Executor;
  access: ChannelAccess;
}

type Author = Pick<Actor, 'realmId' | 'userId' | 'role' | 'isSystemBot'>;
type Rendering = Pick<Sender, 'actor' | 'author' | 'policy' | 'hidden'> & {
  meta: RequestMeta;
  facts: Pick<RenderContext, 'linkifiers'>;
  /** The channels that a bot of the server may link. */
  linkedChannelIds: LinkedChannels;
};

/** Looks up the objects that a text names and its sender may see; a text that names nothing costs nothing. */
export async function referredBy(
  { database: executor, access }: LookingUp,
  { actor, meta, author, policy, hidden, facts: { linkifiers }, linkedChannelIds }: Rendering,
  content: MarkdownSource,
): Promise<Referred> {
  const { realmId } = actor;
  const strong = namesIn(content, /@_?\*\*([^*\n]+)\*\*/g).map((name) => /^(.*?)(?:\|(\d{1,9}))?$/.exec(name));
  const names = strong.flatMap((match) => (match?.[1] ? [match[1]] : []));
  const ids = strong.flatMap((match) => (match?.[2] ? [Number(match[2])] : []));
  const groupNames = namesIn(content, groupName);
  // The name of a channel may contain a `>`.
  const channelNames = [...namesIn(content, /#\*\*([^*\n>]+)/g), ...namesIn(content, /#\*\*([^*\n]+)\*\*/g)];
  const emojiNames = namesIn(content, /:([\w-]+):/g);
  const everybody =
    names.length + ids.length === 0
      ? []
      : await executor.any(sql.type(personRow)`
          SELECT user_id AS id, full_name AS name, is_bot, is_active, ${isWebhook} AS is_webhook FROM messaging.person WHERE realm_id = ${realmId}
            AND (lower(full_name) = ANY(${lowered(names)}) OR user_id = ANY(${sql.array(ids, 'int4')})) ORDER BY is_active DESC, user_id`);
  const people = everybody.filter((person) => !hidden.has(person.id));
  const groups =
    groupNames.length === 0
      ? []
      : await executor.any(sql.type(groupRow)`
          SELECT group_id AS id, name, can_mention, is_deactivated FROM messaging.user_group
          WHERE realm_id = ${realmId} AND lower(name) = ANY(${lowered(groupNames)})`);
  const channels =
    channelNames.length === 0
      ? []
      : await channelsSeen({ database: executor, access }, { actor, meta, linkedChannelIds }, channelNames);
  const emoji =
    emojiNames.length === 0
      ? []
      : await executor.any(sql.type(emojiRow)`
          SELECT id, name, source_url AS url FROM messaging.realm_emoji WHERE realm_id = ${realmId} AND NOT is_deactivated AND name = ANY(${sql.array(emojiNames, 'text')})`);
  const context: RenderContext = {
    realmUrl: policy.url,
    users: people.map(({ id, name, is_active }) => ({ id, name, isDeactivated: !is_active })),
    groups: groups.map(({ id, name, is_deactivated }) => ({ id, name, isDeactivated: is_deactivated })),
    channels,
    topics: channels.length === 0 ? [] : await topicsSeen(executor, actor, channels, content),
    linkifiers,
    translateEmoticons: hasEmoticons(content) && (await isOn(executor, realmId, author.userId, 'translate_emoticons')),
    emoji,
    defaultCodeLanguage: policy.settings.default_code_block_language,
    previewMedia: policy.settings.inline_image_preview,
    previewPages: policy.settings.inline_url_embed_preview,
    ...(linkifiers.length > 0 || showsMedia.test(content)
      ? { externalContentKey: await externalContentKey(executor, realmId) }
      : {}),
  };
  return { context, groups, botIds: idsWhere(people, 'is_bot'), webhookIds: idsWhere(people, 'is_webhook') };
}

const nobody: ReadonlySet<number> = new Set();

const idsWhere = (people: readonly Person[], property: 'is_bot' | 'is_webhook'): ReadonlySet<number> =>
  people.length === 0 ? nobody : new Set(people.filter((person) => person[property]).map((person) => person.id));

const channelRow = nameRow.extend({ is_open: z.boolean() });

/** The channels of these names that the reader may see. Only those that a permission may open are looked up one by one. */
async function channelsSeen(
  { database, access }: LookingUp,
  { actor, meta, linkedChannelIds }: Pick<Rendering, 'actor' | 'meta' | 'linkedChannelIds'>,
  names: readonly string[],
): Promise<Named[]> {
  const { realmId, userId, role, isSystemBot } = actor;
  // A notice links the target of a move, whoever can follow the link, but no channel that only its quotes name.
  const open =
    isSystemBot && linkedChannelIds !== 'public'
      ? sql.fragment`c.channel_id = ANY(${sql.array([...linkedChannelIds], 'int4')})`
      : role === roles.guest
        ? sql.fragment`c.is_web_public`
        : sql.fragment`NOT c.is_private`;
  const named = await database.any(sql.type(channelRow)`
    SELECT c.channel_id AS id, c.name, (${open} OR EXISTS (SELECT FROM messaging.subscription_period p WHERE p.realm_id = c.realm_id
      AND p.user_id = ${userId} AND p.channel_id = c.channel_id AND p.to_id IS NULL)) AS is_open
    FROM messaging.channel c WHERE c.realm_id = ${realmId} AND c.name = ANY(${sql.array([...names], 'text')}) ORDER BY c.is_archived`);
  const closed = named.filter(({ is_open }) => !is_open).map(({ id }) => id);
  const mayBePermitted = closed.length > 0 && role !== roles.guest && !isSystemBot;
  const permitted = mayBePermitted ? await access.readableAmong(actor, meta, closed) : nobody;
  return named.filter(({ id, is_open }) => is_open || permitted.has(id)).map(({ id, name }) => ({ id, name }));
}

const topicRow = z.object({ channelId: z.number(), name: z.string(), messageId: z.number() });
const maxTopics = 50;

/** The latest message of each linked topic that the author may see. */
async function topicsSeen(
  executor: Executor,
  { realmId, userId }: Author,
  channels: readonly Named[],
  content: MarkdownSource,
): Promise<RenderContext['topics']> {
  const links = content.matchAll(/#\*\*([^*>\n]+)>([^*\n]*)\*\*/g);
  const distinct = new Map([...links].map(([markup, channel, topic = '']) => [markup, { channel, topic }]));
  const linked = [...distinct.values()]
    .map(({ channel, topic }) => ({ id: channels.find(({ name }) => name === channel)?.id, topic }))
    .filter(({ id }) => id !== undefined)
    .slice(0, maxTopics);
  if (linked.length === 0) return [];
  const topics = sql.unnest(
    linked.map(({ id, topic }) => [id ?? 0, topic]),
    ['int4', 'text'],
  );
  return executor.any(sql.type(topicRow)`
    SELECT t.channel_id AS "channelId", t.name, found.id AS "messageId" FROM ${topics} t (channel_id, name)
    JOIN messaging.channel c ON c.realm_id = ${realmId} AND c.channel_id = t.channel_id,
    LATERAL (SELECT m.id FROM messaging.message m WHERE m.realm_id = ${realmId} AND m.channel_id = t.channel_id
      AND lower(m.topic) = lower(t.name) AND (NOT c.is_private OR c.history_public OR ${isSeenBy(userId)}) ORDER BY m.id DESC LIMIT 1) found`);
}

/** Names of one kind that are looked up for a text. */
const maxNames = 500;

const namesIn = (content: MarkdownSource, pattern: RegExp): string[] =>
  content.search(pattern) < 0
    ? []
    : [...new Set([...content.matchAll(pattern)].map((match) => (match[1] ?? '').trim()))].slice(0, maxNames);
/** Lower-cased by the database, because other implementations differ for some letters. */
const lowered = (names: readonly string[]) =>
  sql.fragment`ARRAY(SELECT lower(n) FROM unnest(${sql.array([...names], 'text')}) n)`;
