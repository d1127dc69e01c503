import { botOperations, botTypes } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { readBots } from '../model/bot-row.ts';

const serviceRow = z.object({ base_url: z.string(), interface: z.number(), token: z.string() });

/** Bots, owners and realms that are deactivated send nothing. */
const isAtWork = sql.fragment`account.is_active AND account.bot_type = ${botTypes.outgoingWebhook}
  AND NOT EXISTS (SELECT FROM users.account o WHERE o.id = account.bot_owner_id AND NOT o.is_active)
  AND NOT EXISTS (SELECT FROM users.realm r WHERE r.id = account.realm_id AND r.is_deactivated)`;

/** Where messages for an outgoing webhook bot are posted. */
export const outgoingWebhookHandlers = ({ database }: Owner): Handlers => [
  handle(botOperations.getOutgoingWebhook, async ({ meta }, { user_id }) => {
    const [bot] = await readBots(database, meta.realmId, sql.fragment`account.id = ${user_id} AND ${isAtWork}`);
    const service = serviceRow.safeParse(bot?.services[0]);
    if (!bot || !service.success) return { webhook: null };
    const { email, full_name, bot_owner_id } = bot;
    return { webhook: { ...service.data, email, full_name, owner_id: bot_owner_id } };
  }),
];
