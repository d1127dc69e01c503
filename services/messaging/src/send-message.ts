import { badRequest, limits, messagingOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner, type RealmPolicies, type Sight } from '@natter/service-kit';
import type { ChannelCache } from './channel-cache.ts';
import { decideSend } from './sending/decide-send.ts';
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
      const decided = await decideSend(sending, actor, meta, params, content, context.attempt > 0);
      const { newVisibilityPolicy: automatic_new_visibility_policy } = decided;
      const rest = automatic_new_visibility_policy === undefined ? {} : { automatic_new_visibility_policy };
      return owner.commit(actor.realmId, { ...decided, answer: { named: 'id', rest }, claim: context.claim });
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
