import { type Actor, type RequestMeta, roles } from '@natter/contracts';
import { type Executor, type Fragment, readAtOnce, sql } from '@natter/database';
import { z } from 'zod';
import { isSeenBy } from '../subscription-periods.ts';

type Ids = ReturnType<typeof sql.array>;

/** The channels that decide which messages somebody may read. Its size does not depend on the channels of the realm. */
export interface Readable {
  /** Channels in which the reader may read every message: those with an open history that they are subscribed to. */
  whole: Ids;
  /**
   * Other channels that the reader is or was subscribed to, in which they may read received messages: subscribed ones
   * with a protected history, and those that are still open to them.
   */
  received: Ids;
  /** SQL condition on a message `m`: whether its channel is open to the reader without a subscription. */
  isOpen: Fragment;
}

const knownRow = z.object({
  channel_id: z.number(),
  is_open: z.boolean(),
  history_public: z.boolean(),
  is_in: z.boolean(),
});
const idRow = z.object({ channel_id: z.number() });

/** Up to this number, the query contains the ids of open channels. If there are more, it looks up each message's. */
const maxListed = 250;

/**
 * SQL condition on a channel `c`: whether this reader may read it without a subscription. For a reader without an
 * account, it has the same result as `isOpenToSpectators`.
 */
const isOpenTo = (actor: Pick<Actor, 'role'> | undefined): Fragment => {
  if (!actor) return sql.fragment`(c.is_web_public AND NOT c.is_archived)`;
  return actor.role === roles.guest ? sql.fragment`c.is_web_public` : sql.fragment`NOT c.is_private`;
};

/** Reads the channels that the reader is or was subscribed to, and a bounded number of open ones. */
export async function readableBy(
  executor: Executor,
  { realmId }: Pick<RequestMeta, 'realmId'>,
  actor: Actor | undefined,
): Promise<Readable> {
  const { known, open } = await readAtOnce(executor, {
    known: sql.type(knownRow)`
      SELECT c.channel_id, ${isOpenTo(actor)} AS is_open, c.history_public, p.is_in FROM (
        SELECT channel_id, bool_or(to_id IS NULL) AS is_in FROM messaging.subscription_period
        WHERE realm_id = ${realmId} AND user_id = ${actor?.userId ?? 0} GROUP BY channel_id) p
      JOIN messaging.channel c ON c.realm_id = ${realmId} AND c.channel_id = p.channel_id`,
    open: openIds(realmId, isOpenTo(actor)),
  });
  const isWhole = (channel: z.infer<typeof knownRow>): boolean => channel.is_in && channel.history_public;
  return {
    whole: idsOf(known.filter(isWhole)),
    received: idsOf(known.filter((channel) => !isWhole(channel) && (channel.is_in || channel.is_open))),
    isOpen: isAmong(realmId, isOpenTo(actor), open),
  };
}

/** SQL condition on a message `m`: whether its channel is public, or web-public. */
export async function isIn(executor: Executor, realmId: number, kind: 'public' | 'web-public'): Promise<Fragment> {
  const condition = kind === 'public' ? sql.fragment`NOT c.is_private` : sql.fragment`c.is_web_public`;
  return isAmong(realmId, condition, await executor.any(openIds(realmId, condition)));
}

const openIds = (realmId: number, condition: Fragment) => sql.type(idRow)`
  SELECT c.channel_id FROM messaging.channel c WHERE c.realm_id = ${realmId} AND ${condition} LIMIT ${maxListed + 1}`;

const isAmong = (realmId: number, condition: Fragment, found: readonly z.infer<typeof idRow>[]): Fragment =>
  found.length <= maxListed
    ? sql.fragment`m.channel_id = ANY(${idsOf(found)})`
    : sql.fragment`(SELECT ${condition} FROM messaging.channel c WHERE c.realm_id = ${realmId} AND c.channel_id = m.channel_id)`;

const idsOf = (channels: readonly { channel_id: number }[]) =>
  sql.array(
    channels.map((channel) => channel.channel_id),
    'int4',
  );

/** All messages that may be read: the user's own, and those open to all users of the realm. */
export const accessible = (readable: Readable, actor: Actor | undefined): Fragment =>
  actor ? sql.fragment`(${readable.isOpen} OR ${mine(readable, actor)})` : readable.isOpen;

/**
 * Received messages that may still be read: direct messages, messages of subscribed channels, and of public channels
 * that the reader was in. In open channels also messages that the reader flagged or that mention them (bots are
 * notified of mentions without a subscription), and received ones that were moved there.
 */
export const mine = (readable: Readable, actor: Actor): Fragment => sql.fragment`(m.channel_id = ANY(${readable.whole})
    OR ((m.channel_id = ANY(${readable.received}) OR ${readable.isOpen}) AND ${isReceived(readable, actor)})
    OR (m.channel_id IS NULL AND EXISTS (SELECT FROM messaging.direct_message dm
      WHERE dm.realm_id = m.realm_id AND dm.user_id = ${actor.userId} AND dm.message_id = m.id)))`;

/**
 * For a message in a partly readable channel: whether the reader received it, or the channel is open and the message
 * mentions or is flagged by them.
 */
export const isReceived = (
  { isOpen }: Readable,
  { userId }: Actor,
): Fragment => sql.fragment`(${isSeenBy(userId)} OR (${isOpen}
    AND (coalesce(m.mentioned_ids @> ARRAY[${userId}]::int[], false)
      OR EXISTS (SELECT FROM messaging.flag mf WHERE mf.realm_id = m.realm_id AND mf.user_id = ${userId} AND mf.message_id = m.id))))`;
