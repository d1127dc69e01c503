import type { Actor, IdSet, messagingOperations, ParamsOf, RequestMeta } from '@natter/contracts';
import type { Database, Decided } from '@natter/database';
import type { Renderer } from '@natter/renderer';
import { type RealmPolicies, realmBasis, type Sight } from '@natter/service-kit';
import { acquainted, requireKnown } from '../acquaintance.ts';
import type { ChannelCache } from '../channel-cache.ts';
import { type Destination, findDestination } from '../destination.ts';
import { emailHiddenFrom } from '../email-visibility.ts';
import { groupBasis } from '../group-basis.ts';
import { unknownActor } from '../unknown-actor.ts';
import { filesReferredBy, referencesOfSend } from '../uploads/references.ts';
import { widgetOfSend } from '../widgets/widget-of-send.ts';
import { calledBots, mentionedBy } from './mention-rights.ts';
import { messageOf } from './message-event.ts';
import { limitsDirect, requireDirectAllowed } from './posting-rights.ts';
import { namesGroup, referredBy } from './render-context.ts';
import { unreadForOf } from './resolution-notice.ts';
import { senderFacts } from './sender-facts.ts';
import { topicPreferencesAfter } from './topic-preferences.ts';

export type Params = ParamsOf<typeof messagingOperations.sendMessage> & {
  /** A bot's notice that a topic is resolved. */
  isResolution?: boolean;
};

export interface Sending {
  database: Database;
  channels: ChannelCache;
  policies: RealmPolicies;
  sight: Sight;
  renderer: Renderer;
}

export interface DecidedSend extends Decided {
  /** The policy that the sender's own settings gave the topic. */
  newVisibilityPolicy: number | undefined;
}

/**
 * Decides a send whole: where it goes, whether the sender may, who is mentioned, what it looks like. Pure but for lookups; a
 * constant number of them, however many receive it. `fresh`: not on copies that may be stale.
 */
export async function decideSend(
  { database, channels, policies, sight, renderer }: Sending,
  actor: Actor,
  meta: RequestMeta,
  params: Params,
  content: string,
  fresh: boolean,
): Promise<DecidedSend> {
  const policy = await policies.get(meta, fresh);
  const destination = await findDestination({ database, channels }, actor, meta, params, policy, fresh);
  const usesGroups = namesGroup(content) || (destination.kind === 'direct' && limitsDirect(policy));
  const groupVersions = usesGroups ? await groupBasis(database, actor.realmId) : {};
  const conversation =
    destination.kind === 'channel'
      ? { channelId: destination.channel.channel_id, topic: destination.topic }
      : { key: destination.people.map((person) => person.user_id).join(',') };
  const facts = await senderFacts(database, actor.realmId, actor.userId, content, conversation);
  const isNew = facts.is_new_conversation;
  const hidden = await sight.hiddenFrom(actor, meta, policy);
  if (destination.kind === 'direct') {
    if (isNew) requireKnown(destination.people, hidden, params.to);
    await requireDirectAllowed(database, actor, destination.people, policy, isNew);
  }
  const { context, groups, botIds } = await referredBy(database, actor, content, policy, facts.linkifiers, hidden);
  const topic = destination.kind === 'channel' ? destination.topic : '';
  const rendered = await renderer.render(actor, content, context, topic);
  const mentioned = await mentionedBy(database, actor, rendered, groups, destination, policy);
  const called = await calledBots(database, actor.realmId, destination, rendered.mentions.userIds, botIds);
  const preferences = await topicPreferencesAfter(database, actor, destination, facts, rendered.mentions.userIds);
  const references = referencesOfSend(await filesReferredBy(database, actor, meta, content));
  const widget = await widgetOfSend(database, actor.userId, content, params.widget_content);
  const unreadFor = params.isResolution ? await unreadForOf(database, actor.realmId, destination) : undefined;
  const message = messageOf({
    actor,
    meta,
    params,
    content,
    destination,
    facts,
    rendered,
    mentioned,
    submessages: widget.submessages,
    emailHiddenFrom: await emailHiddenFrom(database, actor, facts.email ?? actor.email, readersOf(destination)),
    unknownSender: await unknownActor({ sight, policies }, actor, meta, destination.audience),
    unreadFor,
    called,
  });
  return {
    basis: { ...actor.basis, ...realmBasis(policy), ...destination.basis, ...groupVersions },
    events: [
      message.event,
      ...references.events,
      ...preferences.events,
      ...(destination.kind === 'direct' ? acquainted(policy, destination.people, isNew) : []),
    ],
    numbered: (fromEnd) => [
      ...message.rows(fromEnd),
      ...references.rows(fromEnd),
      ...widget.rows(fromEnd),
      ...preferences.rows,
    ],
    newVisibilityPolicy: preferences.own,
  };
}

/** Who may get the message: of an open channel also who follows all of them, and bots that are called. */
const readersOf = (destination: Destination): IdSet | 'realm' =>
  destination.kind === 'channel' && !destination.channel.is_private ? 'realm' : destination.audience;
