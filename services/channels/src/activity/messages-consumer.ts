import type { LogEvent } from '@natter/contracts';
import { type Fragment, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { knowersOf } from '../model/audience.ts';
import { channelUpdated, subscribersOf } from '../model/channel-events.ts';
import { channelColumns, channelRow } from '../model/channel-row.ts';
import type { Service } from '../model/deciding.ts';
import type { Directory } from '../model/directory/directory.ts';
import { holdDirectory } from '../model/directory/read-directory.ts';

/** Greater than the id of any message: the channel has no messages. */
const none = Number.MAX_SAFE_INTEGER;

/** Data about channels and users, collected from the messages of one transaction. */
interface Run {
  /** Number of messages, and the lowest id. */
  sent: Map<number, { count: number; first: number }>;
  /** Channels whose first message changed because messages were moved out: then `first` in `sent` is complete. */
  begun: Set<number>;
  senders: Set<number>;
}

/**
 * Derives channel figures from messages: the first message, messages per week, recent activity; and which users were
 * active recently. A transaction with many messages takes as many statements as one with a single message.
 */
export function messagesConsumer({ owner, directories }: Service): void {
  const runs = new WeakMap<Work, Run>();
  const runOf = (work: Work): Run => {
    const run = runs.get(work) ?? { sent: new Map(), begun: new Set(), senders: new Set() };
    runs.set(work, run);
    return run;
  };
  owner.consume({
    name: 'messages',
    // No request waits for these figures, except those that read them.
    gatherMs: 100,
    batchSize: 500,
    on: {
      message: async (work, event, number) => countSent(runOf(work), event, number),
      update_message: async (work, event) => countMoved(runOf(work), event),
      channel_begins: (work, event, number) => beginElsewhere(work, runOf(work), event, number),
    },
    finish: async (work) => {
      const run = runs.get(work);
      if (!run) return;
      await storeSenders(work, run);
      if (run.sent.size === 0) return;
      await storeTraffic(work, run);
      await storeFigures(work, () => directories.read(work, work.realmId), run);
    },
  });
}

function countSent({ sent, senders }: Run, { message }: LogEvent<'message'>, number: number): void {
  if (!message) return;
  senders.add(message.senderId);
  if (message.channelId === undefined) return;
  const known = sent.get(message.channelId);
  sent.set(message.channelId, { count: (known?.count ?? 0) + 1, first: Math.min(known?.first ?? number, number) });
}

/** Messages moved into a channel may be older than all others in it. */
function countMoved({ sent }: Run, { body }: LogEvent<'update_message'>): void {
  const { new_stream_id: target, message_ids: ids } = body;
  if (target === undefined || ids.length === 0) return;
  const known = sent.get(target);
  const first = Math.min(known?.first ?? none, ...ids);
  sent.set(target, { count: known?.count ?? 0, first });
}

/** Discards earlier messages of the run, because the first message of the channel changed. */
async function beginElsewhere(
  work: Work,
  { sent, begun }: Run,
  { note }: LogEvent<'channel_begins'>,
  number: number,
): Promise<void> {
  const { channel_id: id, first_message_id: first, after } = note;
  begun.add(id);
  const unseen = await firstArrivedBetween(work, id, after ?? number - 1, number);
  sent.set(id, { count: sent.get(id)?.count ?? 0, first: Math.min(first ?? none, unseen) });
}

const eventRow = z.object({ number: z.number(), event: z.custom<LogEvent<'message' | 'update_message'>>() });
const maxUnseen = 10_000;

/** The first of the messages that were sent or moved to a channel by events between two others. */
async function firstArrivedBetween(work: Work, channelId: number, after: number, before: number): Promise<number> {
  if (before - after < 2) return none;
  const arrived: Run = { sent: new Map(), begun: new Set(), senders: new Set() };
  const rows = await work.any(sql.type(eventRow)`
    SELECT number, event FROM log.read_types(${work.realmId}, ${after}, ${before - 1}, ${sql.array(['message', 'update_message'], 'text')}, ${maxUnseen})`);
  for (const { number, event } of rows)
    if (event.type === 'message') countSent(arrived, event, number);
    else countMoved(arrived, event);
  return arrived.sent.get(channelId)?.first ?? none;
}

async function storeSenders(work: Work, { senders }: Run): Promise<void> {
  if (senders.size === 0) return;
  await work.run(sql.unsafe`
    INSERT INTO channels.activity AS a (realm_id, user_id, day)
    SELECT ${work.realmId}, id, current_date FROM unnest(${sql.array(
      [...senders].sort((a, b) => a - b),
      'int4',
    )}) id
    ON CONFLICT (realm_id, user_id) DO UPDATE SET day = excluded.day WHERE a.day < excluded.day`);
}

async function storeTraffic(work: Work, { sent }: Run): Promise<void> {
  const counted = [...sent].filter(([, { count }]) => count > 0).sort(([a], [b]) => a - b);
  await work.run(sql.unsafe`
    INSERT INTO channels.traffic AS t (realm_id, channel_id, day, messages)
    SELECT ${work.realmId}, r.id, current_date, r.count
    FROM ${sql.unnest(
      counted.map(([id, { count }]) => [id, count]),
      ['int4', 'int4'],
    )} AS r (id, count)
    ON CONFLICT (realm_id, channel_id, day) DO UPDATE SET messages = t.messages + excluded.messages`);
}

const movingRow = channelRow.extend({ first: z.number().nullable(), is_quiet: z.boolean(), is_begun: z.boolean() });

/** Writes a row per day and channel; emits an event if a figure that clients see has changed. */
async function storeFigures(work: Work, directoryOf: () => Promise<Directory>, { sent, begun }: Run): Promise<void> {
  const given = [...sent].map(([id, { first, count }]) => ({
    id,
    first: first === none ? null : first,
    is_quiet: count === 0,
    is_begun: begun.has(id),
  }));
  const which = sql.fragment`
    FROM channels.channel c JOIN jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS r (id int, first bigint, is_quiet boolean, is_begun boolean) ON r.id = c.id
    WHERE c.realm_id = ${work.realmId}`;
  const isVisible = sql.fragment`(CASE WHEN r.is_begun THEN c.first_message_id IS DISTINCT FROM r.first
    ELSE c.first_message_id IS NULL OR c.first_message_id > r.first END OR (NOT c.is_recently_active AND NOT r.is_quiet))`;
  const waiting = await work.maybeOne(sql.type(z.object({ is_visible: z.boolean() }))`
    SELECT bool_or(${isVisible}) AS is_visible ${which} AND (${isVisible} OR c.last_message_day IS DISTINCT FROM current_date) HAVING count(*) > 0`);
  if (!waiting) return;
  if (waiting.is_visible) await announceFigures(work, directoryOf, which, isVisible);
  await work.run(sql.unsafe`
    UPDATE channels.channel c SET last_message_day = current_date
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS r (id int, is_quiet boolean)
    WHERE c.id = r.id AND c.realm_id = ${work.realmId} AND NOT r.is_quiet AND c.last_message_day IS DISTINCT FROM current_date`);
}

async function announceFigures(
  work: Work,
  directoryOf: () => Promise<Directory>,
  which: Fragment,
  isVisible: Fragment,
): Promise<void> {
  await holdDirectory(work, 'shared');
  const rows = await work.any(sql.type(movingRow)`
    SELECT ${channelColumns}, r.first, r.is_quiet, r.is_begun ${which} AND ${isVisible} ORDER BY c.id FOR UPDATE OF c`);
  const subscribers = await subscribersOf(
    work,
    rows.map(({ id }) => id),
  );
  const directory = await directoryOf();
  const figures: [number, number | null, boolean][] = [];
  for (const { first: given, is_quiet, is_begun, ...channel } of rows) {
    const known = channel.first_message_id;
    const first = is_begun || known === null || given === null ? given : Math.min(known, given);
    const audience = knowersOf(channel, directory, subscribers.get(channel.id) ?? new Set());
    if (first !== known) work.emit(channelUpdated(channel, 'first_message_id', first, audience));
    if (!channel.is_recently_active && !is_quiet)
      work.emit(channelUpdated(channel, 'is_recently_active', true, audience));
    figures.push([channel.id, first, !is_quiet]);
  }
  await work.run(sql.unsafe`
    UPDATE channels.channel c SET first_message_id = r.first, is_recently_active = c.is_recently_active OR r.is_active
    FROM ${sql.unnest(figures, ['int4', 'int8', 'bool'])} AS r (id, first, is_active) WHERE c.id = r.id`);
}
