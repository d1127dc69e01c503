import { sql, type Work } from '@natter/database';

/** The users and channels of an event that ended subscriptions. */
interface Ended {
  number: number;
  channelIds: readonly number[];
  userIds: readonly number[];
}

const arraysOf = ({ channelIds, userIds }: Ended) =>
  [sql.array([...userIds], 'int4'), sql.array([...channelIds], 'int4')] as const;

/**
 * Maximum number of ended periods of one user in one channel. Every look-up of the receivers of a message reads all
 * periods.
 */
const mostPeriods = 100;

/**
 * Keeps few periods of each user in each channel after an event that ended some: nobody can make the search for
 * receivers long by subscribing and unsubscribing. No period ever begins earlier or includes a message that it did not.
 */
export async function boundPeriods(work: Work, ended: Ended): Promise<void> {
  await dropEmpty(work, ended);
  await joinNeighbours(work, ended);
  await forgetOldest(work, ended);
}

/** Length of a period in events. Longer periods are kept, because a user cannot make many of them. */
const shortPeriod = 100_000;

/**
 * Deletes periods during which no message was sent or moved to the channel. The earliest period of a user is kept,
 * because it shows that the user was in the channel.
 */
async function dropEmpty(work: Work, ended: Ended): Promise<void> {
  const { number } = ended;
  const [users, channels] = arraysOf(ended);
  const { realmId } = work;
  await work.run(sql.unsafe`
    WITH arrived AS (
        SELECT m.channel_id, max(a.number) AS number FROM messaging.arrival a
        JOIN messaging.message m ON m.realm_id = a.realm_id AND m.id = a.message_id
        WHERE a.realm_id = ${realmId} AND a.number > ${number - shortPeriod} AND m.channel_id = ANY(${channels}) GROUP BY 1),
      newest AS (
        SELECT c.id AS channel_id, greatest(arrived.number, (
          SELECT max(m.id) FROM messaging.message m WHERE m.realm_id = ${realmId} AND m.sent_channel_id = c.id)) AS number
        FROM unnest(${channels}) AS c (id) LEFT JOIN arrived ON arrived.channel_id = c.id)
    DELETE FROM messaging.subscription_period p USING newest n
    WHERE p.realm_id = ${realmId} AND p.channel_id = n.channel_id AND p.user_id = ANY(${users}) AND p.to_id = ${number}
      AND p.from_id > ${number - shortPeriod} AND coalesce(n.number, 0) < p.from_id
      AND EXISTS (SELECT FROM messaging.subscription_period o
        WHERE o.realm_id = p.realm_id AND o.user_id = p.user_id AND o.channel_id = p.channel_id AND o.from_id < p.from_id)`);
}

/**
 * A period continues the one before if nothing was sent to the channel between them, and no message was moved between
 * them, whatever its channel: that is found at once, however long the time between them is.
 */
async function joinNeighbours(work: Work, ended: Ended): Promise<void> {
  const [users, channels] = arraysOf(ended);
  const { realmId } = work;
  await work.run(sql.unsafe`
    WITH joined AS (
        SELECT p.user_id, p.channel_id, p.from_id, b.from_id AS before_id FROM messaging.subscription_period p,
          LATERAL (SELECT o.from_id, o.to_id FROM messaging.subscription_period o
            WHERE o.realm_id = p.realm_id AND o.user_id = p.user_id AND o.channel_id = p.channel_id AND o.from_id < p.from_id
            ORDER BY o.from_id DESC LIMIT 1) b
        WHERE p.realm_id = ${realmId} AND p.user_id = ANY(${users}) AND p.channel_id = ANY(${channels}) AND p.to_id = ${ended.number}
          AND NOT EXISTS (SELECT FROM messaging.message m
            WHERE m.realm_id = p.realm_id AND m.sent_channel_id = p.channel_id AND m.id >= b.to_id AND m.id <= p.from_id)
          AND NOT EXISTS (SELECT FROM messaging.arrival a
            WHERE a.realm_id = p.realm_id AND a.number >= b.to_id AND a.number <= p.from_id)),
      gone AS (DELETE FROM messaging.subscription_period p USING joined j
        WHERE p.realm_id = ${realmId} AND p.user_id = j.user_id AND p.channel_id = j.channel_id AND p.from_id = j.from_id)
    UPDATE messaging.subscription_period p SET to_id = ${ended.number} FROM joined j
    WHERE p.realm_id = ${realmId} AND p.user_id = j.user_id AND p.channel_id = j.channel_id AND p.from_id = j.before_id`);
}

/** Messages of deleted periods count as not received: a channel with protected history no longer shows them. */
async function forgetOldest(work: Work, ended: Ended): Promise<void> {
  const [users, channels] = arraysOf(ended);
  await work.run(sql.unsafe`
    DELETE FROM messaging.subscription_period p USING unnest(${users}) u (id), unnest(${channels}) c (id),
      LATERAL (SELECT o.from_id FROM messaging.subscription_period o
        WHERE o.realm_id = ${work.realmId} AND o.user_id = u.id AND o.channel_id = c.id
        ORDER BY o.from_id DESC OFFSET ${mostPeriods} LIMIT 1) o
    WHERE p.realm_id = ${work.realmId} AND p.user_id = u.id AND p.channel_id = c.id AND p.from_id <= o.from_id`);
}
