import { botOperations, botTypes } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { realmDeactivated } from '../model/actors.ts';
import { readBots } from '../model/bot-row.ts';
import { readRealm } from '../model/read-realm.ts';

const serviceRow = z.object({ base_url: z.string(), interface: z.number(), token: z.string() });

/** Deactivated bots, and those of deactivated owners, send nothing. */
const isAtWork = sql.fragment`account.is_active AND account.bot_type = ${botTypes.outgoingWebhook}
  AND NOT EXISTS (SELECT FROM users.account o WHERE o.id = account.bot_owner_id AND NOT o.is_active)`;

/** Handlers that return the address to which messages for an outgoing webhook bot are posted. */
export const outgoingWebhookHandlers = ({ database }: Owner): Handlers => [
  handle(botOperations.getOutgoingWebhook, async ({ meta }, { user_id }) => {
    const [bot] = await readBots(database, meta.realmId, sql.fragment`account.id = ${user_id} AND ${isAtWork}`);
    const service = serviceRow.safeParse(bot?.services[0]);
    // The address is empty after the bot got another owner, until one is entered.
    if (!bot || !service.success || service.data.base_url === '') return { webhook: null };
    if ((await readRealm(database, meta.realmId)).isDeactivated) throw realmDeactivated();
    const { email, full_name, bot_owner_id } = bot;
    return { webhook: { ...service.data, email, full_name, owner_id: bot_owner_id } };
  }),
];
