import { userVisibilityOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

export const contactHandlers = ({ database }: Owner): Handlers => [
  handle(userVisibilityOperations.listDirectContacts, async ({ meta }) => {
    const { number } = await database.one(sql.type(numberRow)`SELECT number FROM log.position(${meta.realmId})`);
    const rows = await database.any(sql.type(conversationRow)`
      SELECT DISTINCT recipient_ids FROM messaging.message
      WHERE realm_id = ${meta.realmId} AND conversation IS NOT NULL AND cardinality(recipient_ids) > 1`);
    return { number, conversations: rows.map((row) => row.recipient_ids) };
  }),
];

const numberRow = z.object({ number: z.number() });
const conversationRow = z.object({ recipient_ids: z.array(z.number()) });
