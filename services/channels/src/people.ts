import { type Audience, idSet, roles, type User } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { toChannel } from './channel-object.ts';
import { channelColumns, channelRow } from './channel-row.ts';

export const personRow = z.object({ user_id: z.number(), email: z.string(), role: z.number(), is_active: z.boolean() });
export type Person = z.infer<typeof personRow>;

/**
 * Whoever decides an audience from the copy of people holds this shared; who changes the copy holds it alone. Otherwise a
 * new person and a new channel that cross would never hear of each other. Taken before any other lock.
 */
export async function holdPeople(work: Work, mode: 'shared' | 'alone'): Promise<Person[]> {
  if (mode === 'shared') await work.run(sql.unsafe`SELECT pg_advisory_xact_lock_shared(7201, ${work.realmId})`);
  else await work.run(sql.unsafe`SELECT pg_advisory_xact_lock(7201, ${work.realmId})`);
  return peopleOf(work, work.realmId);
}

export const peopleOf = (executor: Executor, realmId: number): Promise<Person[]> =>
  executor.any(
    sql.type(
      personRow,
    )`SELECT user_id, email, role, is_active FROM channels.person WHERE realm_id = ${realmId} ORDER BY user_id`,
  );

/** Who may know that a channel exists: of a public one all but guests, of a private one administrators; and its subscribers. */
export function mayKnow(person: Person, isPrivate: boolean, isSubscribed: boolean): boolean {
  if (isSubscribed) return true;
  return isPrivate ? person.role <= roles.administrator : person.role !== roles.guest;
}

export function knowers(people: readonly Person[], isPrivate: boolean, subscribers: ReadonlySet<number>): number[] {
  return people
    .filter((person) => mayKnow(person, isPrivate, subscribers.has(person.user_id)))
    .map((person) => person.user_id);
}

export const to = (userIds: Iterable<number>): Audience => ({ users: idSet(userIds) });

/** Keeps the copy of people, and tells in the same transaction what follows: which channels a person now may know. */
export function peopleConsumer(owner: Owner): void {
  owner.consume({
    name: 'people',
    types: ['realm_user'],
    handle: async (work, { event }) => {
      await holdPeople(work, 'alone');
      const person = event.body.person as Partial<User> & { user_id: number };
      if (event.op === 'add') {
        await work.run(sql.unsafe`
          INSERT INTO channels.person (realm_id, user_id, email, role, is_active, is_bot)
          VALUES (${work.realmId}, ${person.user_id}, ${person.email ?? ''}, ${person.role ?? 400}, true, ${person.is_bot ?? false}) ON CONFLICT DO NOTHING`);
        await tellVisibility(work, person.user_id, undefined, person.role ?? 400);
        return;
      }
      const before = await work.maybeOne(
        sql.type(
          personRow,
        )`SELECT user_id, email, role, is_active FROM channels.person WHERE realm_id = ${work.realmId} AND user_id = ${person.user_id}`,
      );
      if (!before) return;
      if (person.role !== undefined) {
        await work.run(
          sql.unsafe`UPDATE channels.person SET role = ${person.role} WHERE realm_id = ${work.realmId} AND user_id = ${person.user_id}`,
        );
        await tellVisibility(work, person.user_id, before.role, person.role);
      }
      if (person.is_active !== undefined) {
        await work.run(
          sql.unsafe`UPDATE channels.person SET is_active = ${person.is_active} WHERE realm_id = ${work.realmId} AND user_id = ${person.user_id}`,
        );
        await forgetAudiences(work, person.user_id);
      }
    },
  });
}

async function tellVisibility(work: Work, userId: number, before: number | undefined, after: number): Promise<void> {
  const channels = await work.any(sql.type(channelRow.extend({ is_subscribed: z.boolean() }))`
    SELECT ${channelColumns}, coalesce(s.is_active, false) AS is_subscribed FROM channels.channel c
    LEFT JOIN channels.subscription s ON s.channel_id = c.id AND s.user_id = ${userId}
    WHERE c.realm_id = ${work.realmId} AND NOT c.is_archived ORDER BY c.id`);
  const knows = (role: number | undefined, row: (typeof channels)[number]): boolean =>
    role !== undefined &&
    mayKnow({ user_id: userId, email: '', role, is_active: true }, row.is_private, row.is_subscribed);
  const gained = channels.filter((row) => !knows(before, row) && knows(after, row));
  const lost = channels.filter((row) => knows(before, row) && !knows(after, row));
  if (gained.length > 0)
    work.emit({
      type: 'stream',
      op: 'create',
      body: { streams: gained.map((row) => toChannel(row)) },
      audience: to([userId]),
    });
  if (lost.length > 0)
    work.emit(
      channelsGone(
        lost.map((row) => row.id),
        [userId],
      ),
    );
}

export const channelsGone = (channelIds: number[], userIds: Iterable<number>) => ({
  type: 'stream',
  op: 'delete',
  body: { streams: channelIds.map((stream_id) => ({ stream_id })), stream_ids: channelIds },
  audience: to(userIds),
});

/** A deactivated person is in no audience any more: what others cached of the channels ends. */
async function forgetAudiences(work: Work, userId: number): Promise<void> {
  const rows = await work.any(sql.type(z.object({ channel_id: z.number() }))`
    SELECT channel_id FROM channels.subscription WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND is_active`);
  for (const { channel_id } of rows) work.bump(`channel:${channel_id}`);
}
