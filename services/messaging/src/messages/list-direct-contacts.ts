import { userVisibilityOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

const pageSize = 1_000;

export const contactHandlers = ({ database }: Owner): Handlers => [
  handle(userVisibilityOperations.listDirectContacts, async ({ meta }, { after }) => {
    const { number } = await database.one(sql.type(numberRow)`SELECT number FROM log.position(${meta.realmId})`);
    const rest = after === undefined ? sql.fragment`LIMIT ALL` : sql.fragment`LIMIT ${pageSize}`;
    const rows = await database.any(sql.type(conversationRow)`
      SELECT DISTINCT ON (conversation) conversation, recipient_ids FROM messaging.message
      WHERE realm_id = ${meta.realmId} AND conversation > ${after ?? ''} AND cardinality(recipient_ids) > 1 ORDER BY conversation ${rest}`);
    const last = rows.at(-1);
    return {
      number,
      conversations: rows.map((row) => row.recipient_ids),
      ...(after !== undefined && last && rows.length === pageSize ? { next: last.conversation } : {}),
    };
  }),
];

const numberRow = z.object({ number: z.number() });
const conversationRow = z.object({ conversation: z.string(), recipient_ids: z.array(z.number()) });
