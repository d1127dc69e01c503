import { sql, type Work } from '@natter/database';
import { userMention } from '../model/names-in-notices.ts';
import { queueNotice } from '../model/notice.ts';
import { maxWaiting } from '../model/sending/triggered-webhooks.ts';
import type { DeliveryRow } from './delivery-row.ts';
import type { Triggering, Webhook } from './webhook-format.ts';

/** Failures of a bot of which its owner is told: one in this time, however many there are. */
const everyMinutes = 60;

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
    WHERE realm_id = ${work.realmId} AND user_id = ${bot_id}
      AND coalesce(told_at NOT BETWEEN clock_timestamp() - make_interval(mins => ${everyMinutes}) AND clock_timestamp(), true)`);
  if (isAllowed === 0) return;
  const content = `${text}\n\nFurther failures of this bot are not reported for an hour.`;
  await queueNotice(work, { from: 'Notification Bot', to: { userIds: [owner_id] }, content });
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

export function fullText({ full_name }: Webhook, botId: number, where: 'bot' | 'owner'): string {
  const bot = userMention(full_name, botId);
  return where === 'bot'
    ? `${maxWaiting.bot} messages wait for your bot ${bot}. Further ones are not posted to it until it answers.`
    : `Too many messages wait for your bots, among them ${bot}. Further ones are not posted until bots answer.`;
}
