import type { Actor, IdSet, LogEvent, RealmPolicy } from '@natter/contracts';
import type { Database, Decided } from '@natter/database';
import type { RenderContext } from '@natter/markdown';
import { type RealmPolicies, realmVersions, type UserVisibility } from '@natter/realm-policy';
import type { Renderer } from '@natter/renderer';
import { acquainted } from '../acquaintance.ts';
import type { Authors } from '../authors.ts';
import type { ChannelAccess } from '../channel-access.ts';
import type { ChannelCache } from '../channel-cache.ts';
import { emailHiddenFrom, hidesEmail } from '../email-visibility.ts';
import { filesReferredBy, mayLinkFiles, noFiles, referencesOfSend, type SharedFiles } from '../files/references.ts';
import { groupVersions } from '../group-versions.ts';
import { jobsOfSend } from '../preview-job.ts';
import { unknownActor } from '../unknown-actor.ts';
import { type Destination, findDestination } from './destination.ts';
import { calledBots, mentionedBy, mentionsAnybody, nobodyCalled, nobodyMentioned } from './mention-rights.ts';
import { messageOf } from './message-event.ts';
import { type Author, authorOf, invalidMirrored, isMirrored } from './mirrored.ts';
import { limitsDirect, requireDirectAllowed } from './posting-rights.ts';
import { mentionsGroup, referredBy } from './render-context.ts';
import { unreadForOf } from './resolution-notice.ts';
import type { SendRequest } from './send-params.ts';
import { type SenderFacts, senderFacts } from './sender-facts.ts';
import { topicPreferencesAfter } from './topic-preferences.ts';
import { triggeredWebhooks } from './triggered-webhooks.ts';
import { widgetOf } from './widget-command.ts';
import { noWidget, sentWidget } from './widget-of-send.ts';

export interface Sending {
  database: Database;
  channels: ChannelCache;
  access: ChannelAccess;
  policies: RealmPolicies;
  userVisibility: UserVisibility;
  renderer: Renderer;
  /** Users in whose name a mirroring bot sends. */
  authors: Authors;
}

export interface DecidedSend extends Decided {
  /** The topic preference that the sender's settings set. */
  newVisibilityPolicy: number | undefined;
  /** Whether it is posted to outgoing webhook bots. */
  hasWebhooks: boolean;
}

/**
 * Decides a send completely: destination, permission, mentions, rendering. Pure except for a constant number of
 * look-ups, however many users receive it. Most messages need none of the look-ups that have a condition, and each await
 * costs memory.
 */
export async function decideSend(sending: Sending, request: SendRequest): Promise<DecidedSend> {
  const { database, channels, policies, userVisibility, renderer, authors } = sending;
  const { actor, meta, params, content, fresh } = request;
  const policy = await policies.get(meta, fresh);
  const written = isMirrored(params) ? await authorOf({ database, authors }, request) : byActor(actor);
  const { actor: author, statedAt } = written;
  const { seenBy: reader = actor, seenBy: writer = author, linkedChannelIds = [] } = params;
  const { hidden, destination } = await userVisibility.decideFor(reader, meta, policy, async (seen) => {
    if (author !== actor && seen.has(author.userId)) throw invalidMirrored();
    const found = await findDestination({ database, channels, hidden: seen }, request, policy, author.userId);
    return { hidden: seen, destination: found };
  });
  const usesGroups = mentionsGroup(content) || (destination.kind === 'direct' && limitsDirect(policy));
  const ofGroups = usesGroups ? await groupVersions(database, actor.realmId) : {};
  const conversation = conversationOf(destination);
  const facts = await senderFacts(database, { realmId: actor.realmId, senderId: author.userId, content, conversation });
  const sender = { actor, author, policy, facts, hidden };
  if (destination.kind === 'direct') await requireDirectAllowed(database, sender, destination.people);
  const rendering = { actor: reader, meta, author: writer, policy, facts, hidden, linkedChannelIds };
  const { context, groups, botIds, webhookIds } = await referredBy(sending, rendering, content);
  const rendered = await renderer.render(reader, content, contextFor(actor, context), topicOf(destination));
  const { userIds } = rendered.mentions;
  const mentioned = mentionsAnybody(rendered.mentions)
    ? await mentionedBy(database, sender, { mentions: rendered.mentions, groups }, destination)
    : nobodyMentioned;
  const { called, expected: ofBots } =
    botIds.size > 0 ? await calledBots(database, actor.realmId, destination, { userIds, botIds }) : nobodyCalled;
  const webhooks = triggeredWebhooks([actor, author], destination, { userIds, webhookIds, called });
  const preferences = await topicPreferencesAfter(database, sender, destination, params.isContested ? [] : userIds);
  const shared = mayLinkFiles(content) ? await filesShared(sending, request) : noFiles;
  const references = referencesOfSend(shared.fileIds);
  const widget = widgetOf(content, params.widget_content);
  const sent = widget ? await sentWidget(database, author.userId, widget) : noWidget;
  const unreadFor = await unreadForOf(database, actor.realmId, destination, params);
  const message = messageOf({
    author,
    statedAt,
    meta,
    params,
    content,
    destination,
    facts,
    rendered,
    mentioned,
    submessages: sent.submessages,
    emailHiddenFrom: hidesEmail(author) ? await emailHiddenFrom(database, author, readersOf(destination)) : undefined,
    unknownSender: await unknownActor({ userVisibility, policies }, author, meta, { ...destination, called }),
    unreadFor,
    called,
  });
  const people = { ...actor.basis, ...reader.basis, ...written.expected };
  const parts = [message, references, jobsOfSend(author.userId, content, rendered.pages), sent, preferences, webhooks];
  return {
    // Versions that were read later do not replace earlier ones.
    expected: merged([shared.expected, ofBots, ofGroups, people, realmVersions(policy), destination.expected]),
    events: [message.event, ...references.events, ...preferences.events, ...acquaintedBy(destination, policy, facts)],
    numbered: (fromEnd) => parts.flatMap((part) => part.rows(fromEnd)),
    hasWebhooks: webhooks.areAny,
    newVisibilityPolicy: preferences.own,
  };
}

const acquaintedBy = (destination: Destination, policy: RealmPolicy, facts: SenderFacts): LogEvent[] =>
  destination.kind === 'direct' ? acquainted(policy, destination.people, facts.is_new_conversation) : [];

/** Merges versions. If several lists contain a version, the last list determines it. */
const merged = (versions: readonly Record<string, number>[]): Record<string, number> => Object.assign({}, ...versions);

const byActor = (actor: Actor): Author => ({ actor, statedAt: undefined, expected: {} });

/** Notices of bots contain text of users, who may not share all files that a bot sees. */
async function filesShared(sending: Sending, { actor, meta, params, content }: SendRequest): Promise<SharedFiles> {
  const sharer = params.seenBy ?? (actor.isSystemBot ? undefined : actor);
  return sharer ? filesReferredBy(sending, { actor: sharer, meta }, content) : noFiles;
}

/** The bots of the server notify by their message alone, because it may quote mentions. */
const contextFor = (actor: Actor, context: RenderContext): RenderContext =>
  actor.isSystemBot ? { ...context, areMentionsSilent: true } : context;

const topicOf = (destination: Destination): string => (destination.kind === 'channel' ? destination.topic : '');

const conversationOf = (destination: Destination) =>
  destination.kind === 'channel'
    ? { channelId: destination.channel.channel_id, topic: destination.topic }
    : { key: destination.people.map((person) => person.user_id).join(',') };

/**
 * Users who may read the message: in an open channel everyone, including users who follow all public channels, and
 * mentioned bots.
 */
const readersOf = (destination: Destination): IdSet | 'realm' =>
  destination.kind === 'channel' && !destination.channel.is_private ? 'realm' : destination.audience;
