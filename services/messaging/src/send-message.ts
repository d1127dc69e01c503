import { badRequest, limits, messagingOperations } from '@natter/contracts';
import type { Idempotency } from '@natter/database';
import {
  type Handlers,
  handle,
  idempotencyOf,
  type Owner,
  type RealmPolicies,
  type Sight,
  type UserContext,
} from '@natter/service-kit';
import type { ChannelCache } from './channel-cache.ts';
import { decideSend, type Params } from './sending/decide-send.ts';
import { linkifiersOf } from './sending/linkifiers.ts';
import { referredBy } from './sending/render-context.ts';

export function sendHandlers(owner: Owner, channels: ChannelCache, policies: RealmPolicies, sight: Sight): Handlers {
  const sending = { database: owner.database, renderer: owner.renderer, channels, policies, sight };
  return [
    handle(messagingOperations.sendMessage, async (context, params) => {
      const { actor, meta } = context;
      const content = checkedContent(params.content);
      // Names are looked up in copies of what others own, which may be a moment behind.
      if (/[@#]_?\*/.test(content)) await owner.catchUp(actor.realmId);
      const idempotency = idempotencyOfSend(context, params);
      const decided = await decideSend(sending, actor, meta, params, content, context.attempt > 0, idempotency);
      const id = await owner.commit(actor.realmId, decided);
      const { newVisibilityPolicy } = decided;
      return {
        id,
        ...(newVisibilityPolicy === undefined ? {} : { automatic_new_visibility_policy: newVisibilityPolicy }),
      };
    }),

    handle(messagingOperations.renderMessage, async ({ actor, meta }, { content }) => {
      const policy = await policies.get(meta, false);
      const linkifiers = await linkifiersOf(owner.database, actor.realmId);
      const hidden = await sight.hiddenFrom(actor, meta, policy);
      const { context } = await referredBy(owner.database, actor, content, policy, linkifiers, hidden);
      return { rendered: (await owner.renderer.render(actor, content, context)).html };
    }),
  ];
}

export function checkedContent(content: string): string {
  const stripped = content.trimEnd();
  if (stripped.trim() === '') throw badRequest('Message must not be empty');
  if ([...stripped].length > limits.messageLength)
    throw badRequest(`content is too long (limit: ${limits.messageLength} characters)`);
  return stripped;
}

/** `queue_id` and `local_id` name a send as well as a key does: stock clients retry without one. */
function idempotencyOfSend(context: UserContext, params: Params): Idempotency | undefined {
  const named = idempotencyOf(context, 'send-message', params);
  if (named || params.queue_id === undefined || params.local_id === undefined) return named;
  return {
    userId: context.actor.userId,
    key: `local:${params.queue_id}:${params.local_id}`,
    fingerprint: `send-message ${JSON.stringify(params)}`,
  };
}
