import { type Actor, hasId } from '@natter/contracts';
import { type InsertNumbered, type Numbered, sql } from '@natter/database';
import type { Destination } from './destination.ts';

/** Messages that wait for one bot; further ones are not posted. A transaction of many sends may exceed it by those. */
export const maxWaitingPerBot = 1_000;

/**
 * The outgoing webhook bots to which a message is posted: the other participants of a direct message; in a channel those
 * that are mentioned by name and receive the message. A message that a bot sends triggers none, so that bots cannot answer
 * each other without end.
 *
 * `mentioned`: outgoing webhook bots that the text mentions. `called`: mentioned bots that receive it without a subscription.
 */
export function triggeredWebhooks(
  senders: readonly Pick<Actor, 'isBot'>[],
  destination: Destination,
  mentioned: readonly number[],
  called: readonly number[],
): number[] {
  if (senders.some((sender) => sender.isBot)) return [];
  if (destination.kind === 'direct')
    return destination.people.filter((person) => person.is_webhook && person.is_active).map((person) => person.user_id);
  return mentioned.filter((id) => hasId(destination.audience, id) || called.includes(id));
}

const intoDeliveries: InsertNumbered = (rows) => sql.unsafe`
  INSERT INTO messaging.webhook_delivery (realm_id, bot_id, message_id, due_at, created_at)
  SELECT m.realm_id, m.bot_id, m.number, clock_timestamp(), clock_timestamp() FROM ${rows(sql.fragment`bot_id int`)} m
  WHERE (SELECT count(*) FROM (SELECT FROM messaging.webhook_delivery d
    WHERE d.realm_id = m.realm_id AND d.bot_id = m.bot_id LIMIT ${maxWaitingPerBot}) waiting) < ${maxWaitingPerBot}`;

export const webhookRows = (botIds: readonly number[], from_end: number): Numbered[] =>
  botIds.map((bot_id) => ({ into: intoDeliveries, row: { from_end, bot_id } }));
