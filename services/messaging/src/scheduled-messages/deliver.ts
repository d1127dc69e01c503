import {
  type Actor,
  ChatError,
  isClosed,
  isOutage,
  isRefusal,
  type LogEvent,
  type RequestMeta,
} from '@natter/contracts';
import {
  type Database,
  type Decided,
  isRefusedForNow,
  sql,
  tryLock,
  VersionsChanged,
  type Work,
  withDeadline,
} from '@natter/database';
import type { Background } from '@natter/service-kit';
import { z } from 'zod';
import type { Authors } from '../model/authors.ts';
import { waitForPeopleAndGroups } from '../model/group-versions.ts';
import { removedEvent, type ScheduledRow } from '../model/scheduled-row.ts';
import type { DecideSend, Sendable } from '../model/sending/decide-planned.ts';
import { isContested } from '../model/sending/send-params.ts';
import { batchSize, type DueRow, readDue } from './due-rows.ts';
import { failScheduled } from './failure.ts';

export interface Delivery {
  database: Database;
  background: Background;
  authors: Authors;
  /** Creates the decision function for the sends of one batch. */
  deciding: () => DecideSend;
  /** Messages later than this many seconds fail instead of being sent; undefined: no limit. */
  maxLatenessSeconds: number | undefined;
  /** A transaction that takes longer is given up, because other writes of the realm wait for it. */
  commitMs?: number;
  onSent: (latenessSeconds: number) => void;
  onError: (error: unknown, context: Record<string, unknown>) => void;
}

/**
 * `idle`: nothing could be sent for now, for example because another process delivers here or holds the rows. `closed`:
 * the realm is deactivated, and its messages wait.
 */
export type Outcome = 'more' | 'done' | 'idle' | 'closed';

type Ended = Exclude<Outcome, 'more'>;

interface Ready {
  row: DueRow;
  decided: Decided;
}

/** Maximum number of characters in one transaction, because indexing long texts takes many milliseconds. */
const maxCharacters = 100_000;
const defaultCommitMs = 10_000;
const maxAttempts = 4;
/** Messages that are due in a deactivated realm wait this long for its reactivation. */
const closedSeconds = 86_400;
/** Time for messages one by one, before other realms have their turn. */
const aloneMs = 5_000;
/** Delay before the next attempt after a failure that the message did not cause. */
const retryMs = 5_000;
/** Delay after an attempt that took too long. */
const lateRetryMs = 60_000;

/**
 * Sends the due messages of a realm, those of one person in order of time, each exactly once: the transaction that inserts a
 * message marks its row. Decisions are made before it, because they query other services; the commit checks their versions,
 * and outdated ones are repeated. One process at a time delivers in a realm, to keep the order; if it dies, its transaction
 * ends and another continues.
 */
export function createDelivery(delivery: Delivery): (realmId: number) => Promise<Outcome> {
  const { commitMs = defaultCommitMs } = delivery;
  const postponed = new Map<number, number>();
  /** Maximum number of messages in the next batch, by realm; only for realms whose last batch took too long. */
  const sizes = new Map<number, number>();

  return async (realmId) => {
    for (const [id, until] of postponed) if (until < performance.now()) postponed.delete(id);
    const due = await readDue(delivery.database, realmId, [...postponed.keys()]);
    if (due.length === 0) return 'idle';
    const size = sizes.get(realmId) ?? batchSize;
    const rows = firstOf(due, size);
    const together = await deliverTogether(realmId, inOrder(rows), 0);
    const outcome = together === 'split' ? await deliverApart(realmId, rows) : together;
    if (outcome !== 'done') return outcome;
    if (size < batchSize) sizes.set(realmId, Math.ceil(1.25 * size));
    else sizes.delete(realmId);
    return rows.length < due.length || due.length === batchSize ? 'more' : 'done';
  };

  async function deliverTogether(realmId: number, rows: readonly DueRow[], attempt: number): Promise<Ended | 'split'> {
    try {
      // Decided together, they share look-ups. Outdated data never leads to a refusal: it is decided again with current
      // data, and no consumer of this process keeps the projections current.
      const decideSend = delivery.deciding();
      const first = await Promise.all(rows.map((row) => decide(decideSend, realmId, row, attempt)));
      const isDoubted = (row: DueRow, decided: unknown) => decided instanceof ChatError && !isTooLate(row);
      if (rows.some((row, index) => isDoubted(row, first[index]) && !isClosed(first[index])))
        await waitForPeopleAndGroups(delivery.database, realmId);
      const ready: Ready[] = [];
      let failed = 0;
      for (const [index, row] of rows.entries()) {
        let decided = first[index];
        if (isDoubted(row, decided)) decided = await decide(delivery.deciding(), realmId, row, Math.max(attempt, 1));
        if (decided instanceof ChatError) {
          if (isClosed(decided) && row.late < closedSeconds) return 'closed';
          if (await failScheduled(delivery.background, realmId, row, decided)) failed++;
        } else if (decided) ready.push({ row, decided });
      }
      return (await commitInTime(realmId, ready)) + failed > 0 ? 'done' : 'idle';
    } catch (error) {
      // All messages wait: one that is postponed alone would be overtaken by later ones.
      if (isOutage(error) || isRefusedForNow(error)) throw error;
      if (!(error instanceof VersionsChanged)) delivery.onError(error, { realmId, rows: rows.length });
      return 'split';
    }
  }

  /** After a failed batch: one by one, so that a message that cannot be sent does not delay others. */
  async function deliverApart(realmId: number, rows: readonly DueRow[]): Promise<Ended> {
    const end = performance.now() + aloneMs;
    let result: Ended = 'idle';
    for (const row of rows) {
      if (performance.now() > end) break;
      const outcome = await deliverAlone(realmId, row);
      if (outcome === 'closed') return outcome;
      if (outcome === 'done') result = outcome;
    }
    return result;
  }

  async function deliverAlone(realmId: number, row: DueRow): Promise<Ended> {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const outcome = await deliverTogether(realmId, [row], attempt);
      if (outcome !== 'split') return outcome;
    }
    postponed.set(row.id, performance.now() + retryMs);
    return 'idle';
  }

  /** The send, or the reason for a permanent failure. An outage throws. */
  async function decide(
    decideSend: DecideSend,
    realmId: number,
    row: DueRow,
    attempt: number,
  ): Promise<Decided | ChatError> {
    const meta = metaOf(realmId, row);
    const fresh = attempt > 0;
    if (isTooLate(row)) return new ChatError('BAD_REQUEST', 'Message could not be sent at the scheduled time.');
    try {
      const author = await delivery.authors.get(meta, row.sender_id, fresh);
      if (hasOtherOwner(row, author))
        return new ChatError('BAD_REQUEST', 'The bot had another owner when the message was scheduled.');
      const reader = readerOf(row);
      // The actor of a new user changes in the first seconds.
      const seenBy =
        reader === undefined ? undefined : await delivery.authors.get(meta, reader, fresh || row.is_welcome);
      const wanted = { ...toSend(row), isContested: isContested(attempt), ...(seenBy ? { seenBy } : {}) };
      return await decideSend(author, meta, wanted, fresh);
    } catch (error) {
      if (isRefusal(error)) return error;
      throw error;
    }
  }

  function isTooLate({ late, kind }: DueRow): boolean {
    const { maxLatenessSeconds } = delivery;
    return kind !== 'notice' && maxLatenessSeconds !== undefined && late > maxLatenessSeconds;
  }

  /** If it takes too long, the next batch has half as many messages; one that is alone waits. */
  function commitInTime(realmId: number, ready: readonly Ready[]): Promise<number> {
    return withDeadline(commitMs, async (deadline) => {
      try {
        return await commit(realmId, ready);
      } catch (error) {
        const [first, ...others] = ready;
        if (deadline.hasEnded) sizes.set(realmId, Math.max(1, ready.length >> 1));
        if (deadline.hasEnded && first && others.length === 0)
          postponed.set(first.row.id, performance.now() + lateRetryMs);
        throw error;
      }
    });
  }

  /** Returns how many were sent: none while another process is delivering in this realm. */
  async function commit(realmId: number, ready: readonly Ready[]): Promise<number> {
    if (ready.length === 0) return 0;
    const sent = await delivery.background(realmId, async (work) => {
      const isMine = await tryLock(work, 'scheduled-delivery');
      return isMine ? send(work, await lockUnchanged(work, ready)) : [];
    });
    for (const lateness of sent) delivery.onSent(lateness);
    return sent.length;
  }
}

/** At least one, at most `size`, and no more text than a transaction may have. */
function firstOf(rows: readonly DueRow[], size: number): DueRow[] {
  let characters = 0;
  return rows.slice(0, size).filter(({ content }, index) => {
    characters += content.length;
    return index === 0 || characters <= maxCharacters;
  });
}

/** Messages of one batch in order of time, whoever sends them. */
const inOrder = (rows: readonly DueRow[]): DueRow[] =>
  [...rows].sort((one, two) => one.due - two.due || one.id - two.id);

/** Locks the rows that no other process holds and that are unchanged since the decision. */
async function lockUnchanged(work: Work, ready: readonly Ready[]): Promise<Ready[]> {
  const ids = ready.map(({ row }) => row.id);
  const locked = await work.any(sql.type(z.object({ id: z.number(), revision: z.number() }))`
    SELECT id, revision FROM messaging.scheduled_message
    WHERE realm_id = ${work.realmId} AND id = ANY(${sql.array(ids, 'int4')}) AND state = 'waiting' FOR UPDATE SKIP LOCKED`);
  const revisions = new Map(locked.map(({ id, revision }) => [id, revision]));
  const expected = new Map<string, number>();
  return ready.filter(({ row, decided }) => {
    const names = Object.entries(decided.expected);
    // Two decisions with different versions cannot be committed together; the later one waits for the next round.
    if (names.some(([name, version]) => (expected.get(name) ?? version) !== version)) return false;
    if (revisions.get(row.id) !== row.revision) return false;
    for (const [name, version] of names) expected.set(name, version);
    return true;
  });
}

/** Inserts the messages and marks their rows; returns their delays in seconds by the database's clock. */
async function send(work: Work, ready: readonly Ready[]): Promise<number[]> {
  if (ready.length === 0) return [];
  const events: LogEvent[] = [];
  const firsts: { item: Ready; offset: number }[] = [];
  for (const item of ready) {
    firsts.push({ item, offset: events.length });
    work.expectVersions(item.decided.expected);
    events.push(...item.decided.events);
    if (item.row.kind !== 'notice') events.push(removedEvent(item.row));
  }
  for (const event of events) work.emit(event);
  const fromEnd = (offset: number): number => events.length - offset - 1;
  for (const { item, offset } of firsts)
    for (const query of item.decided.numbered(fromEnd(offset))) work.numbered(query);
  work.numbered(sql.unsafe`
    UPDATE messaging.scheduled_message s SET state = 'sent', sent_at = clock_timestamp(), message_id = log.last_number(${work.realmId}) - o.from_end
    FROM ${sql.unnest(
      firsts.map(({ item, offset }) => [item.row.id, fromEnd(offset)]),
      ['int4', 'int4'],
    )} AS o (id, from_end) WHERE s.id = o.id`);
  const { now } = await work.one(
    sql.type(z.object({ now: z.number() }))`SELECT extract(epoch FROM clock_timestamp())::float8 AS now`,
  );
  return ready.map(({ row }) => now - row.due);
}

const toSend = (row: ScheduledRow): Sendable => ({
  type: row.channel_id === null ? 'direct' : 'channel',
  to: row.channel_id ?? row.recipient_ids ?? [],
  topic: row.channel_id === null ? undefined : row.topic,
  content: row.content,
  read_by_sender: row.is_read_by_sender,
  isResolution: row.is_resolution,
  // A process of the previous release stored no list.
  linkedChannelIds: row.linked_channel_ids ?? 'public',
  ...(row.read_by === null ? {} : { readBy: row.read_by }),
});

/** The former owner of a bot may have scheduled the message, to send it with a role that the bot got later. */
const hasOtherOwner = ({ bot_owner_id }: DueRow, { botOwnerId }: Actor): boolean =>
  bot_owner_id !== null && botOwnerId !== undefined && bot_owner_id !== botOwnerId;

/** The one reader of a bot's message that contains text of users. */
function readerOf({ kind, is_welcome, user_id, sender_id, recipient_ids }: DueRow): number | undefined {
  if (kind === 'reminder') return user_id;
  return is_welcome ? recipient_ids?.find((id) => id !== sender_id) : undefined;
}

const metaOf = (realmId: number, row: ScheduledRow): RequestMeta => ({
  requestId: `scheduled-${row.id}`,
  realmId,
  client: row.client,
});
