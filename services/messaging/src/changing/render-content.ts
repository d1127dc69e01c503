import { idSet } from '@natter/contracts';
import type { Owner, RealmPolicies, Sight, UserContext } from '@natter/service-kit';
import type { ReadableMessage } from '../message-reach.ts';
import { type Mentioned, type MentionedAt, mentionedBy } from '../sending/mention-rights.ts';
import { referredBy } from '../sending/render-context.ts';
import { alertedBy, senderFacts } from '../sending/sender-facts.ts';
import { receiversOf } from './readers.ts';

/** What an edit makes of a message: its look, and whom it mentions of those who received it. */
export interface RenderedContent {
  html: string;
  isMeMessage: boolean;
  hasLink: boolean;
  hasImage: boolean;
  mentioned: Mentioned;
  alertedIds: number[];
}

export type RenderContent = (
  context: UserContext,
  content: string,
  message: ReadableMessage,
  topic: string,
) => Promise<RenderedContent>;

/** The edited content, rendered as a send of it would be, under the rights that a send of it would need (semantics 7.2). */
export const createRenderContent =
  (
    { database, renderer }: Pick<Owner, 'database' | 'renderer'>,
    policies: RealmPolicies,
    sight: Sight,
  ): RenderContent =>
  async ({ actor, meta, attempt }, content, message, topic) => {
    const { linkifiers, alerts } = await senderFacts(database, actor.realmId, actor.userId, content, { key: '' });
    const attemptWith = async (fresh: boolean): Promise<RenderedContent> => {
      const policy = await policies.get(meta, fresh);
      const hidden = await sight.hiddenFrom(actor, meta, policy);
      const { context, groups } = await referredBy(database, actor, content, policy, linkifiers, hidden);
      const rendered = await renderer.render(actor, content, context);
      const receivers = new Set(await receiversOf(database, actor.realmId, message.id));
      const at = placeOf(message, topic);
      return {
        html: rendered.html,
        isMeMessage: rendered.isMeMessage,
        hasLink: rendered.hasLink,
        hasImage: rendered.hasImage,
        mentioned: await mentionedBy(database, actor, rendered, groups, at, policy, receivers),
        alertedIds: alertedBy(alerts, content).filter((id) => receivers.has(id)),
      };
    };
    // A refusal is never made on a copy that may be stale.
    return attempt > 0 ? attemptWith(true) : attemptWith(false).catch(() => attemptWith(true));
  };

const placeOf = ({ channel, recipient_ids }: ReadableMessage, topic: string): MentionedAt =>
  channel
    ? { kind: 'channel', channel, topic, audience: channel.subscribers }
    : { kind: 'direct', audience: idSet(recipient_ids ?? []) };
