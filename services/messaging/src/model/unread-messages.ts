import { type Fragment, sql } from '@natter/database';
import { blockSize } from './blocks.ts';
import { neverUnread } from './read-state.ts';

/** The messages among which unread ones are looked for: those that are now in a channel, or direct ones. */
export type UnreadAmong = { channelId: number } | 'direct' | 'all';

/**
 * The unread messages of a user, as a table `m` to select from, in the order of their ids: those that the user received
 * above the floor and that have no read bit, and those marked as unread. `where`: a condition over `m`. Give no condition
 * to the statement that selects from it: PostgreSQL could make a join of it, which loses the order.
 *
 * The time is linear in the received messages above the floor, whatever PostgreSQL assumes about the tables: each LATERAL
 * with OFFSET 0 is a loop over the rows before it. The loops also keep the order, and with a LIMIT they end early. Bits
 * are looked up once per block, then each message by its primary key. Conditions of the caller apply to each message that
 * was found; as conditions of the search they led PostgreSQL, where a realm was new to its statistics, to compare each
 * unread message with each message of a topic.
 */
export const unreadMessages = (
  realmId: number,
  userId: number,
  {
    among = 'all',
    where = sql.fragment`true`,
    skipsMuted = false,
    order,
  }: {
    among?: UnreadAmong;
    where?: Fragment;
    /** Whether to leave out the messages of muted channels in which the user unmuted no topic. */
    skipsMuted?: boolean;
    order: 'ASC' | 'DESC';
  },
) => {
  const direction = order === 'ASC' ? sql.fragment`ASC` : sql.fragment`DESC`;
  return sql.fragment`(
  SELECT m.* FROM (
    SELECT (id / ${blockSize})::int AS block, array_agg(id) AS ids, array_agg(is_marked) AS marks
    FROM (${candidates(realmId, userId, { among, skipsMuted })}) candidate GROUP BY 1 ORDER BY 1 ${direction} OFFSET 0) found
  LEFT JOIN LATERAL (SELECT b.bits FROM messaging.read_block b
    WHERE b.realm_id = ${realmId} AND b.user_id = ${userId} AND b.block = found.block OFFSET 0) cb ON true,
  LATERAL (SELECT c.id, bool_or(c.is_marked) AS is_marked FROM unnest(found.ids, found.marks) c (id, is_marked)
    WHERE c.is_marked OR coalesce(get_bit(cb.bits, (c.id % ${blockSize})::int), 0) = 0
    GROUP BY c.id ORDER BY c.id ${direction} OFFSET 0) unread,
  LATERAL (SELECT s.* FROM messaging.message s WHERE s.realm_id = ${realmId} AND s.id = unread.id OFFSET 0) m
  WHERE (unread.is_marked OR NOT ${neverUnread(userId)}) AND coalesce(${where}, false) OFFSET 0)`;
};

/** Pairs of an id and of whether the message is marked as unread. A marked message may occur twice. */
function candidates(
  realmId: number,
  userId: number,
  { among, skipsMuted }: { among: UnreadAmong; skipsMuted: boolean },
) {
  const marked = sql.fragment`SELECT u.message_id AS id, true AS is_marked FROM messaging.flag u
    WHERE u.realm_id = ${realmId} AND u.user_id = ${userId} AND u.flag = 'unread'`;
  const ofChannels =
    among === 'all'
      ? sql.fragment`SELECT r.id, false AS is_marked FROM messaging.subscription_period p, LATERAL (
          SELECT r.id FROM messaging.message r WHERE r.realm_id = p.realm_id AND r.sent_channel_id = p.channel_id
            AND r.id > greatest(p.from_id, ${floorOf(realmId, userId)}) AND (p.to_id IS NULL OR r.id < p.to_id) OFFSET 0) r
        WHERE p.realm_id = ${realmId} AND p.user_id = ${userId} AND ${skipsMuted ? isNotMuted(realmId, userId) : sql.fragment`true`}`
      : undefined;
  const ofChannel =
    typeof among === 'object'
      ? sql.fragment`SELECT r.id, false AS is_marked FROM messaging.message r
        WHERE r.realm_id = ${realmId} AND r.channel_id = ${among.channelId} AND r.id > ${floorOf(realmId, userId)}
          AND r.id > (SELECT min(from_id) FROM messaging.subscription_period WHERE realm_id = ${realmId} AND user_id = ${userId})
          AND EXISTS (SELECT FROM messaging.subscription_period p WHERE p.realm_id = r.realm_id AND p.user_id = ${userId}
            AND p.channel_id = r.sent_channel_id AND p.from_id < r.id AND (p.to_id IS NULL OR p.to_id > r.id) OFFSET 0)`
      : undefined;
  const direct =
    typeof among === 'object'
      ? undefined
      : sql.fragment`SELECT d.message_id, false FROM messaging.direct_message d
        WHERE d.realm_id = ${realmId} AND d.user_id = ${userId} AND d.message_id > ${floorOf(realmId, userId)}`;
  const parts = [marked, ofChannels, ofChannel, direct].filter((part) => part !== undefined);
  return sql.fragment`${sql.join(parts, sql.fragment` UNION ALL `)}`;
}

/** SQL condition on a period `p`: whether its channel is not muted, or the user unmuted or follows a topic in it. */
const isNotMuted = (realmId: number, userId: number) => sql.fragment`(
  NOT EXISTS (SELECT FROM messaging.muted_channel mc
    WHERE mc.realm_id = ${realmId} AND mc.user_id = ${userId} AND mc.channel_id = p.channel_id)
  OR EXISTS (SELECT FROM messaging.user_topic t
    WHERE t.realm_id = ${realmId} AND t.user_id = ${userId} AND t.channel_id = p.channel_id AND t.policy IN (2, 3)))`;

const floorOf = (realmId: number, userId: number) => sql.fragment`coalesce(
  (SELECT floor FROM messaging.read_floor f WHERE f.realm_id = ${realmId} AND f.user_id = ${userId}), 0)`;
