import { badRequest } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { finderOf, findPeople, findPeopleByEmail, type Person } from './people.ts';

/** The user whose request names other users. */
export interface Naming {
  realmId: number;
  userId: number;
  /** Users whom the caller may not see. */
  hidden: ReadonlySet<number>;
}

/**
 * The people that a request names by id or address, ascending, and the user who names them. A user whom the caller may
 * not see is answered like one who does not exist, before anything else about them is checked: no answer depends on the
 * account. Users in a conversation with the caller are visible. This service stores it before users applies it.
 */
export async function namedPeople(
  executor: Executor,
  { realmId, userId, hidden }: Naming,
  named: readonly (string | number)[],
): Promise<Person[]> {
  const ids = named.filter((item) => typeof item === 'number');
  const emails = named.filter((item) => typeof item === 'string');
  const found =
    ids.length > 0 ? await findPeople(executor, realmId, ids) : await findPeopleByEmail(executor, realmId, emails);
  if (!found.some((person) => person.user_id === userId))
    found.push(...(await findPeople(executor, realmId, [userId])));
  const people = found.sort((a, b) => a.user_id - b.user_id);
  const known = people.filter((person) => !hidden.has(person.user_id));
  const shown = known.length < people.length && (await isConversation(executor, realmId, people)) ? people : known;
  const find = finderOf(shown);
  const unknown = named.find((item) => !find(item));
  if (unknown === undefined) return shown;
  throw badRequest(typeof unknown === 'number' ? `Invalid user ID ${unknown}` : `Invalid email '${unknown}'`);
}

/** Whether these people, ascending, have written to each other. */
export async function isConversation(
  executor: Executor,
  realmId: number,
  people: readonly Pick<Person, 'user_id'>[],
): Promise<boolean> {
  const key = people.map((person) => person.user_id).join(',');
  const row = await executor.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM messaging.message WHERE realm_id = ${realmId} AND conversation = ${key} LIMIT 1`);
  return row !== undefined;
}
