import { idsOf, type LogEvent } from '@natter/contracts';
import { eventsAfter, type Fragment, type Handled, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { emitFlags, emitUnread, lockFlags, readWhatIsMuted } from '../mark-read.ts';
import { isReadByReceiver, wasReceived } from '../read-state.ts';
import { messageDetails } from './message-details.ts';

type Ids = readonly number[];
type Muted = LogEvent<'muted_users'>;
const mutedRow = z.object({ muted_id: z.number() });
/** Maximum number of messages in an event. */
const perEvent = 1_000;
/** Maximum number of messages that a transaction compares. */
const perTransaction = 5_000;
const waitingMutes = 1_000;

/**
 * Applies an event with the whole list of muted users: a new entry begins a period, a missing one ends it. Sends use the
 * periods, so messages that were sent between the event and this transaction have the wrong state. Further transactions
 * correct them. No such message is committed after this transaction, because it stores the change (`mute_change`) with
 * the last number of the log.
 */
export async function mutesChanged(work: Work, event: Muted, number: number): Promise<Handled> {
  if (await correctEarlier(work)) return 'unfinished';
  const list = listOf(event);
  const userIds = idsOf(event.audience.users);
  const changed = new Set<number>();
  for (const userId of userIds) for (const id of await changePeriods(work, number, userId, list)) changed.add(id);
  if (changed.size > 0) {
    await storeChange(work, number, event, [...changed]);
    return 'unfinished';
  }
  const applied = await work.any(sql.type(changeRow)`
    SELECT muted_id, corrected, through FROM messaging.mute_change
    WHERE realm_id = ${work.realmId} AND number = ${number} AND corrected < through ORDER BY muted_id`);
  for (const change of applied) {
    const corrected = await correctSome(work, { ...change, number, userIds, isMuted: list.has(change.muted_id) });
    if (corrected < change.through) return 'unfinished';
  }
  return undefined;
}

const listOf = ({ body }: Muted): ReadonlySet<number> => new Set(body.muted_users.map(({ id }) => id));

/**
 * Corrects some messages of an event that the position has passed before all were corrected: a process of the previous release,
 * which corrects none, handled the event after its first transaction here. Returns whether there is such an event.
 */
export async function correctEarlier(work: Work): Promise<boolean> {
  const earlier = await work.maybeOne(sql.type(earlierRow)`
    SELECT c.muted_id, c.number, c.corrected, c.through, e.event FROM messaging.mute_change c
    CROSS JOIN LATERAL log.read_types(${work.realmId}, c.number - 1, c.number, ${sql.array(['muted_users'], 'text')}, 1) e
    WHERE c.realm_id = ${work.realmId} AND c.corrected < c.through
      AND c.number <= (SELECT position FROM messaging.consumer WHERE realm_id = ${work.realmId} AND name = 'periods')
    LIMIT 1`);
  if (!earlier) return false;
  const { event, ...change } = earlier;
  const userIds = idsOf(event.audience.users);
  await correctSome(work, { ...change, userIds, isMuted: listOf(event).has(change.muted_id) });
  return true;
}

/** Returns the users whose mute begins or ends. */
async function changePeriods(work: Work, number: number, userId: number, list: ReadonlySet<number>): Promise<Ids> {
  const rows = await work.any(sql.type(mutedRow)`
    SELECT muted_id FROM messaging.mute_period WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND to_id IS NULL`);
  const before = new Set(rows.map((row) => row.muted_id));
  const gone = [...before].filter((id) => !list.has(id));
  const added = [...list].filter((id) => !before.has(id));
  if (gone.length > 0) await endMutes(work, number, userId, gone);
  for (const mutedId of added) {
    await readWhatIsMuted(work, userId, mutedId, number);
    await work.run(sql.unsafe`
      INSERT INTO messaging.mute_period (realm_id, user_id, muted_id, from_id) VALUES (${work.realmId}, ${userId}, ${mutedId}, ${number})`);
  }
  return [...gone, ...added];
}

/** A mute during which the muted user sent nothing leaves no period, so that toggled mutes do not accumulate. */
async function endMutes(work: Work, number: number, userId: number, mutedIds: Ids): Promise<void> {
  const open = sql.fragment`p.realm_id = ${work.realmId} AND p.user_id = ${userId} AND p.to_id IS NULL AND p.muted_id = ANY(${sql.array([...mutedIds], 'int4')})`;
  await work.run(sql.unsafe`
    DELETE FROM messaging.mute_period p WHERE ${open} AND NOT EXISTS (SELECT FROM messaging.message m
      WHERE m.realm_id = p.realm_id AND m.sender_id = p.muted_id AND m.id > p.from_id AND m.id < ${number})`);
  await work.run(sql.unsafe`UPDATE messaging.mute_period p SET to_id = ${number} WHERE ${open}`);
}

/**
 * The messages up to the commit are corrected, without those after an event that changes the mute again: that event corrects
 * them.
 */
async function storeChange(work: Work, number: number, { audience, body }: Muted, mutedIds: Ids): Promise<void> {
  const { realmId } = work;
  const ids = sql.array([...mutedIds], 'int4');
  const isIn = (list: Fragment) => sql.fragment`(${list} @> jsonb_build_array(jsonb_build_object('id', c.id)))`;
  const next = await work.any(sql.type(nextRow)`
    SELECT c.id AS muted_id, min(e.number) AS number FROM unnest(${ids}) c (id) LEFT JOIN (
      SELECT e.number, (e.event->'body'->'muted_users')::jsonb AS list
      FROM ${eventsAfter(realmId, number, ['muted_users'], { limit: waitingMutes })} e
      WHERE (e.event->'audience')::jsonb = ${JSON.stringify(audience)}::jsonb) e
    ON ${isIn(sql.fragment`e.list`)} <> ${isIn(sql.fragment`${JSON.stringify(body.muted_users)}::jsonb`)}
    GROUP BY 1`);
  work.numbered(sql.unsafe`
    INSERT INTO messaging.mute_change (realm_id, muted_id, number, corrected, through)
    SELECT ${realmId}, c.id, ${number}, ${number}, least(log.last_number(${realmId}), c.next - 1)
    FROM ${sql.unnest(
      next.map((row) => [row.muted_id, row.number]),
      ['int4', 'int8'],
    )} c (id, next)
    ON CONFLICT (realm_id, muted_id) DO UPDATE
      SET number = excluded.number, corrected = excluded.corrected, through = excluded.through`);
  work.lockClock();
}

const nextRow = mutedRow.extend({ number: z.number().nullable() });
const changeRow = mutedRow.extend({ corrected: z.number(), through: z.number() });
type Change = z.infer<typeof changeRow>;
const earlierRow = changeRow.extend({ number: z.number(), event: z.custom<Muted>() });

interface Correction extends Change {
  number: number;
  userIds: Ids;
  isMuted: boolean;
}

/** Corrects some messages, the oldest ones, and returns the number up to which all are corrected now. */
async function correctSome(work: Work, correction: Correction): Promise<number> {
  let { through } = correction;
  for (const userId of correction.userIds) through = Math.min(through, await correctFor(work, userId, correction));
  await work.run(sql.unsafe`
    UPDATE messaging.mute_change SET corrected = ${through}
    WHERE realm_id = ${work.realmId} AND muted_id = ${correction.muted_id}`);
  return through;
}

const sentRow = z.object({
  id: z.number(),
  channel_id: z.number().nullable(),
  was_received: z.boolean(),
  is_read: z.boolean(),
});

/** Announces the messages after the event that are read if the mute began, and those that are unread if it ended. */
async function correctFor(work: Work, userId: number, correction: Correction): Promise<number> {
  const { number, muted_id, isMuted, corrected, through } = correction;
  await lockFlags(work, userId);
  const sent = await work.any(sql.type(sentRow)`
    SELECT m.id, m.sent_channel_id AS channel_id, ${isReadByReceiver(userId)} AS is_read,
      CASE WHEN m.sent_channel_id IS NULL THEN m.recipient_ids @> ARRAY[${userId}]::int[] ELSE ${wasReceived(userId)} END AS was_received
    FROM messaging.message m WHERE m.realm_id = ${work.realmId} AND m.sender_id = ${muted_id} AND m.id > ${corrected} AND m.id <= ${through}
    ORDER BY m.id LIMIT ${perTransaction}`);
  const last = sent.length < perTransaction ? through : (sent.at(-1)?.id ?? through);
  const wrong = sent.filter((message) => message.is_read === isMuted);
  if (wrong.length === 0) return last;
  const waiting = await waitingSubscriptions(work, { number, through: last }, userId);
  const received = wrong.filter(({ id, channel_id, was_received }) => {
    const before = waiting.findLast((one) => one.number < id && one.channel_ids.some((each) => each === channel_id));
    return before ? before.op === 'add' : was_received;
  });
  const ids = received.map((message) => message.id);
  for (let from = 0; from < ids.length; from += perEvent) {
    const messages = ids.slice(from, from + perEvent);
    if (isMuted) emitFlags(work, userId, { op: 'add', flag: 'read' }, messages);
    else emitUnread(work, userId, messages, await messageDetails(work, userId, messages));
  }
  return last;
}

const waitingRow = z.object({ number: z.number(), op: z.string(), channel_ids: z.array(z.number()) });
const all = 1_000_000;

/** Changes of the user's subscriptions after the event, which are applied after it but determine who received a message. */
const waitingSubscriptions = (work: Work, { number, through }: { number: number; through: number }, userId: number) =>
  work.any(sql.type(waitingRow)`
    SELECT e.number, e.event->>'op' AS op, e.event->'note'->'channel_ids' AS channel_ids
    FROM log.read_types(${work.realmId}, ${number}, ${through}, ${sql.array(['subscription'], 'text')}, ${all}) e
    WHERE e.event->>'op' IN ('add', 'remove') AND (e.event->'note'->'user_ids')::jsonb @> ${JSON.stringify([userId])}::jsonb
    ORDER BY e.number`);
