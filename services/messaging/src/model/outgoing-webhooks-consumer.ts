import { botTypes, type LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';

/**
 * Maintains the projection of outgoing webhook bots, whose type never changes. The consumer of people adds them, too. This
 * one adds the bots that it omits when a process of the previous release runs it during an upgrade.
 */
export function outgoingWebhooksConsumer(owner: Owner): void {
  owner.consume({
    name: 'outgoing-webhooks',
    on: { 'realm_user/add': (work, { body: { person } }) => addOutgoingWebhook(work, person) },
  });
}

export async function addOutgoingWebhook(
  work: Work,
  { user_id, bot_type }: LogEvent<'realm_user/add'>['body']['person'],
): Promise<void> {
  if (bot_type === botTypes.outgoingWebhook)
    await work.run(sql.unsafe`
      INSERT INTO messaging.outgoing_webhook (realm_id, user_id) VALUES (${work.realmId}, ${user_id}) ON CONFLICT DO NOTHING`);
}
