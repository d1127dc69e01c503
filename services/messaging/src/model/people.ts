import { badRequest, maxId, type PersonChange, perRequest } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { addOutgoingWebhook } from './outgoing-webhooks-consumer.ts';

const personRow = z.object({
  user_id: z.number(),
  email: z.string(),
  full_name: z.string(),
  is_active: z.boolean(),
  is_bot: z.boolean(),
  avatar_url: z.string(),
  is_webhook: z.boolean(),
});
export type Person = z.infer<typeof personRow>;

/** The fields of a change that the projection keeps. */
const kept = ['full_name', 'is_active', 'new_email', 'avatar_url'] as const satisfies (keyof PersonChange)[];

/** Maintains the projection of names and addresses. */
export function peopleConsumer(owner: Owner): void {
  owner.consume({
    name: 'people',
    on: {
      'realm_user/add': async (work, { body: { person } }) => {
        await work.run(sql.unsafe`
          INSERT INTO messaging.person (realm_id, user_id, email, full_name, is_active, is_bot, avatar_url)
          VALUES (${work.realmId}, ${person.user_id}, ${person.email}, ${person.full_name}, ${person.is_active}, ${person.is_bot},
            ${person.avatar_url ?? ''}) ON CONFLICT DO NOTHING`);
        // In the same transaction, so that no message is sent to a new bot before it is known what the bot is.
        await addOutgoingWebhook(work, person);
      },
      'realm_user/update': async (work, { body: { person } }) => {
        if (!kept.some((name) => name in person)) return;
        await work.run(sql.unsafe`
          UPDATE messaging.person SET full_name = coalesce(${person.full_name ?? null}, full_name), is_active = coalesce(${person.is_active ?? null}::boolean, is_active),
            email = coalesce(${person.new_email ?? null}, email), avatar_url = coalesce(${person.avatar_url ?? null}, avatar_url)
          WHERE realm_id = ${work.realmId} AND user_id = ${person.user_id}`);
      },
    },
  });
}

/** The name of a user or bot; undefined if the projection does not have them. */
export async function nameOf(executor: Executor, realmId: number, userId: number): Promise<string | undefined> {
  const person = await executor.maybeOne(sql.type(personRow.pick({ full_name: true }))`
    SELECT full_name FROM messaging.person WHERE realm_id = ${realmId} AND user_id = ${userId}`);
  return person?.full_name;
}

/** Finds one of these people by id or, in any case, by address. */
export function finderOf(people: readonly Person[]): (key: number | string) => Person | undefined {
  const byKey = new Map<number | string, Person>();
  for (const person of people) byKey.set(person.user_id, person).set(person.email.toLowerCase(), person);
  return (key) => byKey.get(typeof key === 'string' ? key.toLowerCase() : key);
}

export function requireFewRecipients(recipients: readonly (number | string)[]): void {
  if (new Set(recipients).size > perRequest.recipients)
    throw badRequest(`A direct message can have at most ${perRequest.recipients} recipients. Use a channel instead.`);
}

/** Whether a row of `messaging.person` is an outgoing webhook bot. */
export const isWebhook = sql.fragment`(is_bot AND EXISTS (SELECT FROM messaging.outgoing_webhook w
  WHERE w.realm_id = person.realm_id AND w.user_id = person.user_id))`;
const personColumns = sql.fragment`user_id, email, full_name, is_active, is_bot, avatar_url, ${isWebhook} AS is_webhook`;

/** The people whose ids a query returns. */
export const peopleAmong = (realmId: number, userIds: ReturnType<typeof sql.fragment>) =>
  sql.type(personRow)`
    SELECT ${personColumns} FROM messaging.person
    WHERE realm_id = ${realmId} AND user_id = ANY(ARRAY(${userIds})) ORDER BY user_id`;

export const findPeople = (executor: Executor, realmId: number, userIds: readonly number[]): Promise<Person[]> =>
  executor.any(
    peopleAmong(
      realmId,
      sql.fragment`SELECT unnest(${sql.array(
        userIds.filter((id) => Math.abs(id) <= maxId),
        'int4',
      )})`,
    ),
  );

export const findPeopleByEmail = (executor: Executor, realmId: number, emails: readonly string[]): Promise<Person[]> =>
  executor.any(sql.type(personRow)`
    SELECT ${personColumns} FROM messaging.person
    WHERE realm_id = ${realmId} AND lower(email) = ANY(${sql.array(
      emails.map((email) => email.toLowerCase()),
      'text',
    )}) ORDER BY user_id`);

/** The ids among these that belong to active users. */
export async function activeAmong(
  executor: Executor,
  realmId: number,
  userIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await executor.any(sql.type(personRow.pick({ user_id: true }))`
    SELECT user_id FROM messaging.person
    WHERE realm_id = ${realmId} AND is_active AND user_id = ANY(${sql.array([...userIds], 'int4')})`);
  return new Set(rows.map((row) => row.user_id));
}
