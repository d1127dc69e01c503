import { idSet } from '@natter/contracts';
import type { MarkdownSource } from '@natter/markdown';
import type { Owner, RealmPolicies, UserContext, UserVisibility } from '@natter/service-kit';
import type { ChannelAccess } from '../channel-access.ts';
import type { ReadableMessage } from '../message-access.ts';
import { receiversOf } from '../readers.ts';
import { type Mentioned, type MentionedAt, mentionedBy } from './mention-rights.ts';
import { referredBy } from './render-context.ts';
import { senderFacts } from './sender-facts.ts';

/** The result of an edit: the rendered content, and mentions among the users who received it. */
export interface RenderedContent {
  html: string;
  isMeMessage: boolean;
  hasLink: boolean;
  hasImage: boolean;
  /** Linked web pages to preview. */
  pages: readonly string[];
  mentioned: Mentioned;
  alertedIds: number[];
}

export type RenderContent = (
  context: UserContext,
  content: MarkdownSource,
  message: ReadableMessage,
  topic: string,
) => Promise<RenderedContent>;

/** Renders edited content like that of a send, with the same permission checks. */
export const createRenderContent =
  (
    { database, renderer, access }: Pick<Owner, 'database' | 'renderer'> & { access: ChannelAccess },
    policies: RealmPolicies,
    userVisibility: UserVisibility,
  ): RenderContent =>
  async ({ actor, meta, attempt }, content, message, topic) => {
    const asked = { realmId: actor.realmId, senderId: actor.userId, content, conversation: { key: '' } };
    const facts = await senderFacts(database, asked);
    const attemptWith = async (fresh: boolean): Promise<RenderedContent> => {
      const policy = await policies.get(meta, fresh);
      const hidden = await userVisibility.hiddenFrom(actor, meta, policy);
      const sender = { actor, meta, author: actor, policy, facts, hidden, linkedChannelIds: [] };
      const { context, groups } = await referredBy({ database, access }, sender, content);
      const rendered = await renderer.render(actor, content, context);
      const receivers = new Set(await receiversOf(database, actor.realmId, message.id));
      const at = { ...placeOf(message, topic), receivers };
      return {
        html: rendered.html,
        isMeMessage: rendered.isMeMessage,
        hasLink: rendered.hasLink,
        hasImage: rendered.hasImage,
        pages: rendered.pages,
        mentioned: await mentionedBy(database, sender, { mentions: rendered.mentions, groups }, at),
        alertedIds: facts.alertedIds.filter((id) => receivers.has(id)),
      };
    };
    // Outdated data may accept, but never refuse: read the current data first.
    return attempt > 0 ? attemptWith(true) : attemptWith(false).catch(() => attemptWith(true));
  };

const placeOf = ({ channel, recipient_ids }: ReadableMessage, topic: string): MentionedAt =>
  channel
    ? { kind: 'channel', channel, topic, audience: channel.subscribers }
    : { kind: 'direct', audience: idSet(recipient_ids ?? []) };
