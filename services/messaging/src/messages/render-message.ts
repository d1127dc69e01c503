import { messagingOperations } from '@natter/contracts';
import { markdownSource } from '@natter/markdown';
import type { RealmPolicies, UserVisibility } from '@natter/realm-policy';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import type { ChannelAccess } from '../model/channel-access.ts';
import { linkifiersOf } from '../model/linkifiers.ts';
import { referredBy } from '../model/sending/render-context.ts';

export function renderMessageHandlers(
  owner: Owner,
  {
    access,
    policies,
    userVisibility,
  }: { access: ChannelAccess; policies: RealmPolicies; userVisibility: UserVisibility },
): Handlers {
  return [
    handle(messagingOperations.renderMessage, async ({ actor, meta }, { content }) => {
      const policy = await policies.get(meta, false);
      const linkifiers = await linkifiersOf(owner.database, actor.realmId);
      const hidden = await userVisibility.hiddenFrom(actor, meta, policy);
      const { context } = await referredBy(
        { database: owner.database, access },
        { actor, meta, author: actor, policy, hidden, facts: { linkifiers }, linkedChannelIds: [] },
        markdownSource(content),
      );
      return { rendered: (await owner.renderer.render(actor, content, context)).html };
    }),
  ];
}
