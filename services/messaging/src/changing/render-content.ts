import type { Database } from '@natter/database';
import { render } from '@natter/markdown';
import type { RealmPolicies } from '@natter/service-kit';
import { referredBy } from '../sending/render-context.ts';
import { senderFacts } from '../sending/sender-facts.ts';
import type { RenderContent } from './update-message.ts';

/** The edited content, rendered as a send of it would be. */
export const createRenderContent =
  (database: Database, policies: RealmPolicies): RenderContent =>
  async ({ actor, meta }, content) => {
    const policy = await policies.get(meta, false);
    const { linkifiers } = await senderFacts(database, actor.realmId, actor.userId, content, { key: '' });
    const { context } = await referredBy(database, actor, meta.realmUrl, content, policy, linkifiers);
    return render(content, context);
  };
