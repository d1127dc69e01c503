import { type Database, sql, type Work } from '@natter/database';
import type { Background } from '@natter/service-kit';
import { z } from 'zod';
import { addressLink, type NoticeText, notice, userMention } from '../model/notice-text.ts';
import { mayNotify, notifyOwner } from '../model/notify-owner.ts';
import { ownerOf } from '../model/owner-of.ts';
import { isBotFull, isOwnerFull, maxWaiting } from '../model/sending/triggered-webhooks.ts';
import type { DeliveryRow } from './delivery-row.ts';
import type { Triggering, Webhook } from './webhook-format.ts';

const fullRow = z.object({ where: z.enum(['bot', 'owner']).nullable() });

/** Notifies the owner of a bot that a message was not posted to it, unless they were notified of another one recently. */
export async function notifyOfWebhook(
  work: Work,
  { bot_id }: DeliveryRow,
  { owner_id }: Webhook,
  text: NoticeText,
): Promise<void> {
  if (owner_id === null) return;
  const content = notice`${text}\n\nFurther failures of this bot are not reported for an hour.`;
  await notifyOwner(work, { kind: 'webhook', botId: bot_id }, { ownerId: owner_id, content });
}

/** Notifies the owner if as many messages wait as may: for the bot, or for all bots of its owner. */
export async function notifyIfFull(
  { database, background }: { database: Database; background: Background },
  row: DeliveryRow,
  webhook: Webhook,
): Promise<void> {
  if (webhook.owner_id === null) return;
  const { realm_id: realmId, bot_id: botId } = row;
  const bot = { realmId: sql.fragment`${realmId}::int`, botId: sql.fragment`${botId}::int` };
  // Counted only if the owner would be notified, because all messages of the realm are counted.
  const full = await database.maybeOne(sql.type(fullRow)`
    SELECT CASE WHEN ${isBotFull(bot)} THEN 'bot' WHEN ${isOwnerFull(bot.realmId, ownerOf(bot))} THEN 'owner' END AS "where"
    WHERE ${mayNotify({ kind: 'webhook', realmId, botId })}`);
  const where = full?.where;
  if (where) await background(realmId, (work) => notifyOfWebhook(work, row, webhook, fullText(webhook, botId, where)));
}

/** Links the message without names: the owner may not see its channel. */
export function failureText({ full_name }: Webhook, { botId, message }: Triggering, told: NoticeText): NoticeText {
  const place =
    message.type === 'private'
      ? `dm/${message.display_recipient.map(({ id }) => id).join(',')}-dm`
      : `channel/${message.stream_id}`;
  const bot = userMention(full_name, botId);
  const link = addressLink(notice`A message`, `#narrow/${place}/near/${message.id}`);
  return notice`${link} to your bot ${bot} triggered an outgoing webhook.\n${told}`;
}

function fullText({ full_name }: Webhook, botId: number, where: 'bot' | 'owner'): NoticeText {
  const bot = userMention(full_name, botId);
  return where === 'bot'
    ? notice`${maxWaiting.bot} messages wait for your bot ${bot}. Further ones are not posted to it until it answers.`
    : notice`Too many messages wait for your bots, among them ${bot}. Further ones are not posted until bots answer.`;
}
