import type { LogEvent } from '@natter/contracts';
import { type Consumer, type Handled, sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { announceGained, announceLost } from './announce-visibility.ts';
import type { Pairs } from './pairs.ts';
import { lockRealm } from './read-realm.ts';
import { hiddenPeople, isTooLarge, limitsGuests } from './user-visibility.ts';

export const consumerName = 'acquaintance';
/** Types of the events that it handles. */
export const acquaintanceTypes = ['subscription', 'acquainted'] as const;

/**
 * Maintains the projections of shared channels and of direct conversations, of realms that limit their guests, and
 * notifies the guests.
 */
export function acquaintanceConsumer(owner: Owner): Consumer {
  const follow = async (work: Work, event: LogEvent): Promise<Handled> => {
    if (!factOf(event) || !(await limitsGuests(work, work.realmId))) return;
    await lockRealm(work);
    if (await limitsGuests(work, work.realmId)) return applyFact(work, event, true);
  };
  return owner.consume({
    name: consumerName,
    on: { 'subscription/add': follow, 'subscription/remove': follow, acquainted: follow },
  });
}

type Ids = readonly number[];
type Fact = { op: 'add' | 'remove'; channelIds: Ids; userIds: Ids } | { op: 'write'; userIds: Ids };

function factOf(event: LogEvent): Fact | undefined {
  if (event.type === 'acquainted') return { op: 'write', userIds: event.note.user_ids };
  if (event.type !== 'subscription' || (event.op !== 'add' && event.op !== 'remove') || !event.note) return undefined;
  return { op: event.op, channelIds: event.note.channel_ids, userIds: event.note.user_ids };
}

/** Pairs of users of a channel whose visibility changes in one transaction. */
const pairsAtOnce = 250_000;

/**
 * Applies an event to the projections; if `emits` is set, emits to guests the users who become visible or hidden. Then
 * it may apply a part only, and is called again: many users may join or leave many large channels at once.
 */
export async function applyFact(work: Work, event: LogEvent, emits: boolean): Promise<Handled> {
  const fact = factOf(event);
  if (!fact) return;
  if (fact.op === 'write')
    return gain(work, { all: fact.userIds, newcomers: fact.userIds }, () => insertContacts(work, fact.userIds), emits);
  let pairs = 0;
  for (const channelId of fact.channelIds) {
    const before = await subscribersOf(work, channelId);
    const subscribed = new Set(before);
    const changed = fact.userIds.filter((id) => subscribed.has(id) === (fact.op === 'remove'));
    if (changed.length === 0) continue;
    if (emits && pairs >= pairsAtOnce) return 'unfinished';
    const atOnce = Math.max(1, Math.floor((pairsAtOnce - pairs) / (before.length + changed.length)));
    const some = emits ? changed.slice(0, atOnce) : changed;
    pairs += some.length * (before.length + some.length);
    if (fact.op === 'add') {
      const write = () => insertSubscribers(work, channelId, some);
      await gain(work, { all: [...before, ...some], newcomers: some }, write, emits);
    } else {
      await work.run(
        sql.unsafe`DELETE FROM users.shared_channel WHERE channel_id = ${channelId} AND user_id = ANY(${sql.array(some, 'int4')})`,
      );
      if (emits) await announceLost(work, await between(work, before, some));
    }
    if (some.length < changed.length) return 'unfinished';
  }
}

/** `newcomers` and `all` become visible to each other. */
async function gain(
  work: Work,
  { all, newcomers }: { all: readonly number[]; newcomers: readonly number[] },
  write: () => Promise<void>,
  emits: boolean,
): Promise<void> {
  const gained = emits ? await between(work, all, newcomers) : [];
  await write();
  await announceGained(work, gained);
}

/** Pairs of users who may not see each other, where at least one is in `some`. */
async function between(work: Work, all: readonly number[], some: readonly number[]): Promise<Pairs[]> {
  if (some.length === 0) return [];
  const these = new Set(some);
  const others = all.filter((id) => !these.has(id));
  return inPieces(some, async (piece) => [
    await hiddenPeople(work, work.realmId, { guests: piece, people: all }),
    await hiddenPeople(work, work.realmId, { guests: others, people: piece }),
  ]);
}

/** Asks about half of the users where all are too many, because they share many channels. */
async function inPieces(
  some: readonly number[],
  ask: (piece: readonly number[]) => Promise<Pairs[]>,
): Promise<Pairs[]> {
  try {
    return await ask(some);
  } catch (error) {
    if (!isTooLarge(error) || some.length === 1) throw error;
  }
  const half = Math.ceil(some.length / 2);
  return [...(await inPieces(some.slice(0, half), ask)), ...(await inPieces(some.slice(half), ask))];
}

async function subscribersOf(work: Work, channelId: number): Promise<number[]> {
  const rows = await work.any(
    sql.type(
      z.object({ user_id: z.number() }),
    )`SELECT user_id FROM users.shared_channel WHERE channel_id = ${channelId}`,
  );
  return rows.map((row) => row.user_id);
}

export async function insertSubscribers(work: Work, channelId: number, userIds: readonly number[]): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO users.shared_channel (realm_id, channel_id, user_id)
    SELECT ${work.realmId}, ${channelId}, u FROM unnest(${sql.array([...userIds], 'int4')}) u ON CONFLICT DO NOTHING`);
}

export async function insertContacts(work: Work, userIds: readonly number[]): Promise<void> {
  const all = sql.array([...userIds], 'int4');
  await work.run(sql.unsafe`
    INSERT INTO users.direct_contact (realm_id, user_id, partner_id)
    SELECT ${work.realmId}, a, b FROM unnest(${all}) a, unnest(${all}) b WHERE a <> b ON CONFLICT DO NOTHING`);
}
