import { type Actor, hasId } from '@natter/contracts';
import { type Fragment, type InsertNumbered, type Numbered, sql } from '@natter/database';
import { ownerOf } from '../owner-of.ts';
import type { Destination } from './destination.ts';

/**
 * Messages that wait for one bot and in a realm, where owners share the room; further ones are not posted. A transaction
 * of many sends may exceed it by those.
 */
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

/** Whether as many messages wait for a bot as may. */
export const isBotFull = (bot: { realmId: Fragment; botId: Fragment }): Fragment =>
  sql.fragment`EXISTS (SELECT FROM messaging.webhook_delivery
    WHERE realm_id = ${bot.realmId} AND bot_id = ${bot.botId} OFFSET ${maxWaiting.bot - 1})`;

/**
 * Whether an owner has no room for another message. An owner may use half of the room that other owners leave: messages
 * are accepted only while fewer wait for the owner than are free. So one owner never uses up the room of all others.
 */
export const isOwnerFull = (realmId: Fragment, ownerId: Fragment): Fragment =>
  sql.fragment`(SELECT coalesce(sum(w.count) + sum(w.count) FILTER (WHERE w.owner_id = ${ownerId}), 0) >= ${maxWaiting.realm} FROM (
    SELECT c.count, ${ownerOf({ realmId, botId: sql.fragment`c.bot_id` })} AS owner_id FROM (
      SELECT d.bot_id, count(*) FROM messaging.webhook_delivery d WHERE d.realm_id = ${realmId} GROUP BY d.bot_id) c) w)`;

const inRow = { realmId: sql.fragment`b.realm_id`, botId: sql.fragment`b.bot_id` };

const intoDeliveries: InsertNumbered = (rows) => sql.unsafe`
  WITH m AS MATERIALIZED (SELECT * FROM ${rows(sql.fragment`bot_id int`)} r),
  bot AS MATERIALIZED (
    SELECT b.realm_id, b.bot_id, ${ownerOf(inRow)} AS owner_id FROM (SELECT DISTINCT realm_id, bot_id FROM m) b
    WHERE NOT ${isBotFull(inRow)}),
  owner AS MATERIALIZED (
    SELECT o.realm_id, o.owner_id FROM (SELECT DISTINCT realm_id, owner_id FROM bot) o
    WHERE NOT ${isOwnerFull(sql.fragment`o.realm_id`, sql.fragment`o.owner_id`)})
  INSERT INTO messaging.webhook_delivery (realm_id, bot_id, message_id, due_at, created_at)
  SELECT m.realm_id, m.bot_id, m.number, clock_timestamp(), clock_timestamp()
  FROM m JOIN bot USING (realm_id, bot_id) JOIN owner USING (realm_id, owner_id)`;
