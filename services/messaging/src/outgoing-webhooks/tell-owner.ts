import { type Database, sql, type Work } from '@natter/database';
import type { Background } from '@natter/service-kit';
import { z } from 'zod';
import { userMention } from '../model/names-in-notices.ts';
import { queueNotice } from '../model/notice.ts';
import { isBotFull, isOwnerFull, maxWaiting, ownerOf } from '../model/sending/triggered-webhooks.ts';
import type { DeliveryRow } from './delivery-row.ts';
import type { Triggering, Webhook } from './webhook-format.ts';

/** Failures of a bot of which its owner is told: one in this time, however many there are. */
const everyMinutes = 60;

const fullRow = z.object({ where: z.enum(['bot', 'owner']).nullable() });

/** Whether the owner was not told of failures recently. */
const mayTell = sql.fragment`coalesce(told_at NOT BETWEEN clock_timestamp() - make_interval(mins => ${everyMinutes})
  AND clock_timestamp(), true)`;

/** Lets the notification bot write to the owner of a bot, unless it did recently. */
export async function tellOwner(
  work: Work,
  { bot_id }: DeliveryRow,
  { owner_id }: Webhook,
  text: string,
): Promise<void> {
  if (owner_id === null) return;
  const isAllowed = await work.run(sql.unsafe`
    UPDATE messaging.outgoing_webhook SET told_at = clock_timestamp()
    WHERE realm_id = ${work.realmId} AND user_id = ${bot_id} AND ${mayTell}`);
  if (isAllowed === 0) return;
  const content = `${text}\n\nFurther failures of this bot are not reported for an hour.`;
  await queueNotice(work, { from: 'Notification Bot', to: { userIds: [owner_id] }, content });
}

/** Tells the owner if as many messages wait as may: for the bot, or for all bots of its owner. */
export async function tellIfFull(
  { database, background }: { database: Database; background: Background },
  row: DeliveryRow,
  webhook: Webhook,
): Promise<void> {
  if (webhook.owner_id === null) return;
  const bot = { realmId: sql.fragment`hook.realm_id`, botId: sql.fragment`hook.user_id` };
  // Counted only if it would be told, because all messages of the realm are counted.
  const full = await database.maybeOne(sql.type(fullRow)`
    SELECT CASE WHEN ${isBotFull(bot)} THEN 'bot' WHEN ${isOwnerFull(bot.realmId, ownerOf(bot))} THEN 'owner' END AS "where"
    FROM messaging.outgoing_webhook hook WHERE hook.realm_id = ${row.realm_id} AND hook.user_id = ${row.bot_id} AND ${mayTell}`);
  const where = full?.where;
  if (where)
    await background(row.realm_id, (work) => tellOwner(work, row, webhook, fullText(webhook, row.bot_id, where)));
}

/** Links the message without names: the owner may not see its channel. */
export function failureText({ full_name }: Webhook, { botId, message }: Triggering, told: string): string {
  const place =
    message.type === 'private'
      ? `dm/${message.display_recipient.map(({ id }) => id).join(',')}-dm`
      : `channel/${message.stream_id}`;
  const bot = userMention(full_name, botId);
  return `[A message](#narrow/${place}/near/${message.id}) to your bot ${bot} triggered an outgoing webhook.\n${told}`;
}

function fullText({ full_name }: Webhook, botId: number, where: 'bot' | 'owner'): string {
  const bot = userMention(full_name, botId);
  return where === 'bot'
    ? `${maxWaiting.bot} messages wait for your bot ${bot}. Further ones are not posted to it until it answers.`
    : `Too many messages wait for your bots, among them ${bot}. Further ones are not posted until bots answer.`;
}
