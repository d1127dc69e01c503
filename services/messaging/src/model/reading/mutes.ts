import { idsOf, type LogEvent } from '@natter/contracts';
import { eventsAfter, type Handled, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { emitFlags, emitUnread, lockFlags, readWhatIsMuted } from '../mark-read.ts';
import { isReadByReceiver, wasReceived } from '../read-state.ts';
import { messageDetails } from './message-details.ts';

type Ids = readonly number[];
const mutedRow = z.object({ muted_id: z.number() });
/** Maximum number of messages in an event. */
const perEvent = 1_000;

/**
 * The event contains the whole list: new entries begin a period here, missing ones end it. Sends use the periods, so those that
 * were decided before say the opposite of what holds after the event: they are corrected in a second transaction, which sees
 * all of them. None is committed after the first one, because it stores that the mutes changed (`mute_change`).
 */
export async function mutesChanged(work: Work, event: LogEvent<'muted_users'>, number: number): Promise<Handled> {
  const list = new Set(event.body.muted_users.map(({ id }) => id));
  const userIds = idsOf(event.audience.users);
  const changed: number[] = [];
  for (const userId of userIds) changed.push(...(await changePeriods(work, number, userId, list)));
  if (changed.length > 0) {
    await storeChange(work, number, changed);
    return 'unfinished';
  }
  const applied = await work.any(sql.type(mutedRow)`
    SELECT muted_id FROM messaging.mute_change WHERE realm_id = ${work.realmId} AND number = ${number} ORDER BY muted_id`);
  for (const userId of userIds)
    for (const { muted_id } of applied)
      await correctSince(work, number, { userId, mutedId: muted_id, isMuted: list.has(muted_id) });
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

async function storeChange(work: Work, number: number, mutedIds: Ids): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.mute_change (realm_id, muted_id, number)
    SELECT DISTINCT ${work.realmId}::int, id, ${number}::bigint FROM unnest(${sql.array([...mutedIds], 'int4')}) id
    ON CONFLICT (realm_id, muted_id) DO UPDATE SET number = excluded.number`);
  work.lockClock();
}

interface Changed {
  userId: number;
  mutedId: number;
  isMuted: boolean;
}

const sentRow = z.object({
  id: z.number(),
  channel_id: z.number().nullable(),
  was_received: z.boolean(),
  is_read: z.boolean(),
});

/** Announces the messages after the event that are read if the mute began, and those that are unread if it ended. */
async function correctSince(work: Work, number: number, { userId, mutedId, isMuted }: Changed): Promise<void> {
  await lockFlags(work, userId);
  const sent = await work.any(sql.type(sentRow)`
    SELECT m.id, m.sent_channel_id AS channel_id, ${isReadByReceiver(userId)} AS is_read,
      CASE WHEN m.sent_channel_id IS NULL THEN m.recipient_ids @> ARRAY[${userId}]::int[] ELSE ${wasReceived(userId)} END AS was_received
    FROM messaging.message m WHERE m.realm_id = ${work.realmId} AND m.sender_id = ${mutedId} AND m.id > ${number} ORDER BY m.id`);
  const wrong = sent.filter((message) => message.is_read === isMuted);
  if (wrong.length === 0) return;
  const waiting = await waitingSubscriptions(work, number, userId);
  const received = wrong.filter(({ id, channel_id, was_received }) => {
    const last = waiting.findLast((one) => one.number < id && one.channel_ids.some((each) => each === channel_id));
    return last ? last.op === 'add' : was_received;
  });
  const ids = received.map((message) => message.id);
  for (let from = 0; from < ids.length; from += perEvent) {
    const messages = ids.slice(from, from + perEvent);
    if (isMuted) emitFlags(work, userId, { op: 'add', flag: 'read' }, messages);
    else emitUnread(work, userId, messages, await messageDetails(work, userId, messages));
  }
}

const waitingRow = z.object({ number: z.number(), op: z.string(), channel_ids: z.array(z.number()) });

/** Changes of the user's subscriptions after the event, which are applied after it but determine who received a message. */
const waitingSubscriptions = (work: Work, number: number, userId: number) =>
  work.any(sql.type(waitingRow)`
    SELECT e.number, e.event->>'op' AS op, e.event->'note'->'channel_ids' AS channel_ids
    FROM ${eventsAfter(work.realmId, number, ['subscription'])} e
    WHERE e.event->>'op' IN ('add', 'remove') AND (e.event->'note'->'user_ids')::jsonb @> ${JSON.stringify([userId])}::jsonb
    ORDER BY e.number`);
