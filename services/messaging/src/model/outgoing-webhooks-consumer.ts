import { botTypes } from '@natter/contracts';
import { sql } from '@natter/database';
import type { Owner } from '@natter/service-kit';

/** Maintains the projection of outgoing webhook bots. The type of a bot never changes. */
export function outgoingWebhooksConsumer(owner: Owner): void {
  owner.consume({
    name: 'outgoing-webhooks',
    on: {
      'realm_user/add': async (work, { body: { person } }) => {
        if (person.bot_type === botTypes.outgoingWebhook)
          await work.run(sql.unsafe`
            INSERT INTO messaging.outgoing_webhook (realm_id, user_id) VALUES (${work.realmId}, ${person.user_id}) ON CONFLICT DO NOTHING`);
      },
    },
  });
}
