import { idSet } from '@natter/contracts';
import type { Owner, RealmPolicies, Sight, UserContext } from '@natter/service-kit';
import type { ReadableMessage } from '../message-reach.ts';
import { receiversOf } from '../readers.ts';
import { type Mentioned, type MentionedAt, mentionedBy } from './mention-rights.ts';
import { referredBy } from './render-context.ts';
import { alertedBy, senderFacts } from './sender-facts.ts';

/** The result of an edit: the rendered content, and mentions among the users who received it. */
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

/** Renders edited content like that of a send, with the same permission checks. */
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
    // Outdated copies may accept, but never refuse: read the current data first.
    return attempt > 0 ? attemptWith(true) : attemptWith(false).catch(() => attemptWith(true));
  };

const placeOf = ({ channel, recipient_ids }: ReadableMessage, topic: string): MentionedAt =>
  channel
    ? { kind: 'channel', channel, topic, audience: channel.subscribers }
    : { kind: 'direct', audience: idSet(recipient_ids ?? []) };
