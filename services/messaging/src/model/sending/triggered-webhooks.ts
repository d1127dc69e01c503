import { type Actor, hasId } from '@natter/contracts';
import { type InsertNumbered, type Numbered, sql } from '@natter/database';
import type { Destination } from './destination.ts';

/** Messages that wait for one bot and in a realm; further ones are not posted. A transaction of many sends may exceed it by those. */
export const maxWaiting = { bot: 1_000, realm: 10_000 } as const;
/** Bots that one message triggers. */
const maxTriggered = 10;

interface Mentioned {
  /** Users whom the text mentions by name, and the outgoing webhook bots among the users that it names. */
  userIds: readonly number[];
  webhookIds: ReadonlySet<number>;
  /** Mentioned bots that receive the message without a subscription. */
  called: readonly number[];
}

interface Triggered {
  areAny: boolean;
  rows: (fromEnd: number) => Numbered[];
}

/**
 * The outgoing webhook bots to which a message is posted: the other participants of a direct message; in a channel those
 * that are mentioned by name and receive the message. A message that a bot sends triggers none, so that bots cannot answer
 * each other without end. If there are many, the first ones are called.
 */
export function triggeredWebhooks(
  senders: readonly Pick<Actor, 'isBot'>[],
  destination: Destination,
  mentioned: Mentioned,
): Triggered {
  const botIds = senders.some((sender) => sender.isBot) ? [] : botsIn(destination, mentioned).slice(0, maxTriggered);
  const rows = (from_end: number): Numbered[] =>
    botIds.map((bot_id) => ({ into: intoDeliveries, row: { from_end, bot_id } }));
  return { areAny: botIds.length > 0, rows };
}

function botsIn(destination: Destination, { userIds, webhookIds, called }: Mentioned): number[] {
  if (destination.kind === 'direct')
    return destination.people.filter((person) => person.is_webhook).map((person) => person.user_id);
  return userIds.filter((id) => webhookIds.has(id) && (hasId(destination.audience, id) || called.includes(id)));
}

/** Whether as many of these rows wait as may. */
export const isFull = (limit: keyof typeof maxWaiting, which: ReturnType<typeof sql.fragment>) =>
  sql.fragment`EXISTS (SELECT FROM messaging.webhook_delivery WHERE ${which} OFFSET ${maxWaiting[limit] - 1})`;

const intoDeliveries: InsertNumbered = (rows) => sql.unsafe`
  WITH m AS MATERIALIZED (SELECT * FROM ${rows(sql.fragment`bot_id int`)} r),
  bot AS MATERIALIZED (
    SELECT b.realm_id, b.bot_id FROM (SELECT DISTINCT realm_id, bot_id FROM m) b
    WHERE NOT ${isFull('bot', sql.fragment`realm_id = b.realm_id AND bot_id = b.bot_id`)}),
  realm AS MATERIALIZED (
    SELECT r.realm_id FROM (SELECT DISTINCT realm_id FROM m) r WHERE NOT ${isFull('realm', sql.fragment`realm_id = r.realm_id`)})
  INSERT INTO messaging.webhook_delivery (realm_id, bot_id, message_id, due_at, created_at)
  SELECT m.realm_id, m.bot_id, m.number, clock_timestamp(), clock_timestamp()
  FROM m JOIN realm USING (realm_id) JOIN bot USING (realm_id, bot_id)`;
