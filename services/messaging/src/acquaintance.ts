import { badRequest, type LogEvent, type RealmPolicy, sightOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, limitsGuests, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import type { Person } from './people.ts';

/** Who began to write to each other; for the users service alone, where guests see only whom they know. */
export function acquainted(policy: RealmPolicy, people: readonly Person[], isNew: boolean): LogEvent[] {
  if (!isNew || people.length < 2 || !limitsGuests(policy)) return [];
  const note = { user_ids: people.map((person) => person.user_id) };
  return [{ type: 'acquainted', body: {}, audience: { users: { ids: [] } }, note }];
}

/** Whoever may not be known answers like somebody who is not there. */
export function requireKnown(people: readonly Person[], hidden: ReadonlySet<number>, to: unknown): void {
  const stranger = people.find((person) => hidden.has(person.user_id));
  if (!stranger) return;
  const isNamedById = [to].flat().includes(stranger.user_id);
  throw badRequest(isNamedById ? `Invalid user ID ${stranger.user_id}` : `Invalid email '${stranger.email}'`);
}

const numberRow = z.object({ number: z.number() });
const conversationRow = z.object({ recipient_ids: z.array(z.number()) });

export const contactHandlers = ({ database }: Owner): Handlers => [
  handle(sightOperations.listDirectContacts, async ({ meta }) => {
    const { number } = await database.one(sql.type(numberRow)`SELECT number FROM log.position(${meta.realmId})`);
    const rows = await database.any(sql.type(conversationRow)`
      SELECT DISTINCT recipient_ids FROM messaging.message
      WHERE realm_id = ${meta.realmId} AND conversation IS NOT NULL AND cardinality(recipient_ids) > 1`);
    return { number, conversations: rows.map((row) => row.recipient_ids) };
  }),
];
