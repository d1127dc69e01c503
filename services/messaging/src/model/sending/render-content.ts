import { idSet, roles } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import type { MarkdownSource } from '@natter/markdown';
import type { RealmPolicies, UserVisibility } from '@natter/realm-policy';
import type { Owner, UserContext } from '@natter/service-kit';
import { z } from 'zod';
import type { ChannelAccess } from '../channel-access.ts';
import { decideOnCurrent } from '../decide-on-current.ts';
import { groupVersions } from '../group-versions.ts';
import type { ReadableMessage } from '../message-access.ts';
import { receiversOf } from '../readers.ts';
import { type Mentioned, type MentionedAt, mentionedBy, mentionsAnybody } from './mention-rights.ts';
import { mentionsGroup, referredBy } from './render-context.ts';
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
  /** The expected versions of the groups that it may mention. */
  expected: Record<string, number>;
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
  async (user, content, message, topic) => {
    const { actor, meta } = user;
    const asked = { realmId: actor.realmId, senderId: actor.userId, content, conversation: { key: '' } };
    const facts = await senderFacts(database, asked);
    return decideOnCurrent(user, async (fresh) => {
      const policy = await policies.get(meta, fresh);
      const expected = mentionsGroup(content) ? await groupVersions(database, actor.realmId) : {};
      const hidden = await userVisibility.hiddenFrom(actor, meta, policy);
      const sender = { actor, meta, author: actor, policy, facts, hidden, linkedChannelIds: [] };
      const { context, groups } = await referredBy({ database, access }, sender, content);
      const rendered = await renderer.render(actor, content, context);
      const isMention = mentionsAnybody(rendered.mentions);
      const received =
        isMention || facts.alertedIds.length > 0 ? await receiversOf(database, actor.realmId, message) : [];
      const called = isMention ? await calledBefore(database, actor.realmId, message) : [];
      const receivers = new Set([...received, ...called]);
      const at = { ...placeOf(message, topic), receivers };
      return {
        html: rendered.html,
        isMeMessage: rendered.isMeMessage,
        hasLink: rendered.hasLink,
        hasImage: rendered.hasImage,
        pages: rendered.pages,
        mentioned: await mentionedBy(database, sender, { mentions: rendered.mentions, groups }, at),
        alertedIds: facts.alertedIds.filter((id) => receivers.has(id)),
        expected,
      };
    });
  };

const idRow = z.object({ id: z.number() });

/**
 * Users whom the message mentions in an open channel that they may read. Bots among them received it without a
 * subscription.
 */
async function calledBefore(
  executor: Executor,
  realmId: number,
  { id, channel }: ReadableMessage,
): Promise<readonly number[]> {
  if (!channel || channel.is_private) return [];
  const rows = await executor.any(sql.type(idRow)`
    SELECT u.id FROM messaging.message m, unnest(m.mentioned_ids) AS u (id) WHERE m.realm_id = ${realmId} AND m.id = ${id}
      AND (${channel.is_web_public} OR NOT EXISTS (SELECT FROM messaging.standing s
        WHERE s.realm_id = ${realmId} AND s.user_id = u.id AND s.role = ${roles.guest}))`);
  return rows.map((row) => row.id);
}

const placeOf = ({ channel, recipient_ids }: ReadableMessage, topic: string): MentionedAt =>
  channel
    ? { kind: 'channel', channel, topic, audience: channel.subscribers }
    : { kind: 'direct', audience: idSet(recipient_ids ?? []) };
