import { idsOf, type PersonChange } from '@natter/contracts';
import { createBatcher, type Database, sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';

export interface Person {
  user_id: number;
  email: string;
  is_active: boolean;
  is_bot: boolean;
  presence_enabled: boolean;
}

const personRow = z.object({
  user_id: z.number(),
  email: z.string(),
  is_active: z.boolean(),
  is_bot: z.boolean(),
  presence_enabled: z.boolean(),
});

/** The fields of a change of a user that the projection keeps. */
const kept = ['new_email', 'email', 'is_active'] as const satisfies (keyof PersonChange)[];

/** Maintains the projections of users and realms; after a commit, reports users who began or stopped sharing their presence. */
export function peopleConsumer(owner: Owner, onSharing: (realmId: number, userId: number) => void): void {
  const changed = new Map<number, Set<number>>();
  owner.consume({
    name: 'people',
    onMoved: (realmId) => {
      const userIds = changed.get(realmId) ?? [];
      changed.delete(realmId);
      for (const userId of userIds) onSharing(realmId, userId);
    },
    on: {
      'realm/update': async (work, { body }) => {
        if (body.property === 'presence_disabled') await storeDisabled(work, body.value);
      },
      'realm/update_dict': async (work, { body }) => {
        if (body.property === 'default' && body.data.presence_disabled !== undefined)
          await storeDisabled(work, body.data.presence_disabled);
      },
      'user_settings/update': async (work, { body, audience }) => {
        if (body.property !== 'presence_enabled') return;
        for (const id of idsOf(audience.users)) {
          await work.run(sql.unsafe`
            UPDATE presence.person SET presence_enabled = ${body.value} WHERE realm_id = ${work.realmId} AND user_id = ${id}`);
          changed.set(work.realmId, (changed.get(work.realmId) ?? new Set()).add(id));
        }
      },
      'realm_user/add': async (work, { body: { person }, note }) => {
        await work.run(sql.unsafe`
          INSERT INTO presence.person (realm_id, user_id, email, is_active, is_bot, presence_enabled)
          VALUES (${work.realmId}, ${person.user_id}, ${person.email}, ${person.is_active}, ${person.is_bot},
            ${note?.settings.presence_enabled ?? true})
          ON CONFLICT DO NOTHING`);
      },
      'realm_user/update': async (work, { body: { person } }) => {
        if (!kept.some((name) => name in person)) return;
        const email = person.new_email ?? person.email;
        await work.run(sql.unsafe`
          UPDATE presence.person SET email = coalesce(${email ?? null}, email), is_active = coalesce(${person.is_active ?? null}, is_active)
          WHERE realm_id = ${work.realmId} AND user_id = ${person.user_id}`);
      },
    },
  });
}

async function storeDisabled(work: Work, isDisabled: boolean): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO presence.realm (realm_id, presence_disabled) VALUES (${work.realmId}, ${isDisabled})
    ON CONFLICT (realm_id) DO UPDATE SET presence_disabled = excluded.presence_disabled`);
}

const shownRow = personRow.extend({ realm_id: z.number() });

/**
 * The users whose presence is shown: active users who share it; none if the realm disabled presence. Batched into one
 * statement.
 */
export const createPeopleShown = (database: Database) =>
  createBatcher(async (asked: { realmId: number; ids: readonly number[] }[]): Promise<Person[][]> => {
    const wanted = new Map<number, Set<number>>();
    for (const { realmId, ids } of asked) {
      const known = wanted.get(realmId) ?? new Set();
      for (const id of ids) known.add(id);
      wanted.set(realmId, known);
    }
    const found = new Map<string, Person>();
    for (const [realmId, ids] of wanted)
      if (ids.size > 0)
        for (const { realm_id, ...person } of await database.any(sql.type(shownRow)`
          SELECT p.realm_id, p.user_id, p.email, p.is_active, p.is_bot, p.presence_enabled FROM presence.person p
          WHERE p.realm_id = ${realmId} AND p.user_id = ANY(${sql.array([...ids], 'int4')}) AND p.is_active AND p.presence_enabled AND NOT p.is_bot
            AND NOT EXISTS (SELECT FROM presence.realm r WHERE r.realm_id = ${realmId} AND r.presence_disabled)`))
          found.set(`${realm_id} ${person.user_id}`, person);
    return asked.map(({ realmId, ids }) =>
      ids.flatMap((id) => {
        const person = found.get(`${realmId} ${id}`);
        return person ? [person] : [];
      }),
    );
  });
export type PeopleShown = ReturnType<typeof createPeopleShown>;

export const findPerson = (database: Database, realmId: number, who: string): Promise<Person | undefined> =>
  database.maybeOne(sql.type(personRow)`
    SELECT user_id, email, is_active, is_bot, presence_enabled FROM presence.person
    WHERE realm_id = ${realmId} AND ${/^\d{1,9}$/.test(who) ? sql.fragment`user_id = ${Number(who)}` : sql.fragment`lower(email) = lower(${who})`}
    ORDER BY user_id LIMIT 1`);

export async function everybody(database: Database, realmId: number): Promise<number[]> {
  const rows = await database.any(
    sql.type(z.object({ user_id: z.number() }))`SELECT user_id FROM presence.person WHERE realm_id = ${realmId}`,
  );
  return rows.map((row) => row.user_id);
}

const sharingRow = z.object({
  realm_id: z.number(),
  user_id: z.number(),
  presence_enabled: z.boolean(),
  presence_disabled: z.boolean(),
});

/** Whether users share their presence. Batched into one statement. */
export const createSharing = (database: Database) =>
  createBatcher(async (asked: { realmId: number; userId: number }[]) => {
    const rows = await database.any(sql.type(sharingRow)`
      SELECT p.realm_id, p.user_id, p.presence_enabled, coalesce(r.presence_disabled, false) AS presence_disabled
      FROM ${sql.unnest(
        asked.map(({ realmId, userId }) => [realmId, userId]),
        ['int4', 'int4'],
      )} AS a (realm_id, user_id)
      JOIN presence.person p USING (realm_id, user_id) LEFT JOIN presence.realm r USING (realm_id)`);
    const found = new Map(rows.map((row) => [`${row.realm_id} ${row.user_id}`, row]));
    const unknown = { presence_enabled: true, presence_disabled: false };
    return asked.map(({ realmId, userId }) => found.get(`${realmId} ${userId}`) ?? unknown);
  });

/** Whether a realm has more active users than `most`. */
export async function isLargerThan(database: Database, realmId: number, most: number): Promise<boolean> {
  const people = await database.any(sql.type(z.object({ user_id: z.number() }))`
    SELECT user_id FROM presence.person WHERE realm_id = ${realmId} AND is_active AND NOT is_bot ORDER BY user_id LIMIT ${most + 1}`);
  return people.length > most;
}
