import { type Audience, idSet, type NoteOf, type PersonChange, roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import {
  type AccountRow,
  accountColumns,
  accountRow,
  pictureFields,
  roleThatSees,
  visibilitiesBetween,
  visibility,
} from './account-row.ts';

const idRow = z.object({ id: z.number() });

/**
 * All users of at least this role, and the user themselves. The realm's row is locked, so that no role changes
 * meanwhile.
 */
export async function whoSees(work: Work, role: number, ownId: number): Promise<Exclude<Audience, 'realm'>> {
  const rows = await work.any(sql.type(idRow)`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND role <= ${role} AND NOT is_system_bot`);
  return { users: idSet([...rows.map((row) => row.id), ownId]) };
}

export const administratorsAnd = (work: Work, ownerId: number | null): Promise<Exclude<Audience, 'realm'>> =>
  whoSees(work, roles.administrator, ownerId ?? 0);

/** Fields that sends use: the next send must use the new value. */
const decideSends = ['full_name', 'avatar_url', 'is_active'] as const satisfies (keyof PersonChange)[];

/** A change of a user that is announced to all users. */
export function emitPerson(work: Work, person: PersonChange, note?: NoteOf<'realm_user/update'>): void {
  // Gateways renew an actor when they read this event, maybe before messaging does: the actor's version proves nothing here.
  if (decideSends.some((name) => name in person)) work.bump('realm');
  work.emit({ type: 'realm_user', op: 'update', body: { person }, audience: 'realm', ...(note ? { note } : {}) });
}

/**
 * After a change of the address or its visibility, emits to each user what they may see now. Decisions that contain the
 * former address are repeated.
 */
export async function announceEmail(work: Work, before: AccountRow): Promise<AccountRow> {
  const row = await work.one(sql.type(accountRow)`SELECT ${accountColumns} FROM users.account WHERE id = ${before.id}`);
  const user_id = row.id;
  work.bump(`actor:${user_id}`);
  const isOpen = row.is_bot || row.visibility === 1;
  const hidden = { user_id, delivery_email: null };
  const shown = { user_id, delivery_email: row.email };
  const note = { delivery_email: row.email };
  if (isOpen) work.emit({ type: 'realm_user', op: 'update', body: { person: shown }, audience: 'realm', note });
  else {
    const audience = await whoSees(work, roleThatSees(row.visibility), row.id);
    const variants = [{ audience, patch: { person: shown } }];
    work.emit({ type: 'realm_user', op: 'update', body: { person: hidden }, audience: 'realm', variants, note });
  }
  if (row.api_email !== before.api_email) emitPerson(work, { user_id, new_email: row.api_email });
  // Clients that compute the avatar URL from the email were sent none, and may no longer see the email.
  if (row.visibility !== before.visibility && row.avatar_token === null)
    emitPerson(work, { user_id, ...pictureFields(row) });
  return row;
}

/** The number of people whose addresses one unit announces, with two events for each at most. */
const maxAddresses = 3_000;

/**
 * A user whose role changed sees other addresses than before. Consumers know the addresses and pictures already. If there are
 * more than one unit announces, those of active and then of newer people come first; a register contains the others.
 */
export async function announceEmailsTo(work: Work, userId: number, before: number, after: number): Promise<void> {
  const changed = visibilitiesBetween(before, after);
  if (changed.length === 0) return;
  const sees = after < before;
  const rows = await work.any(sql.type(accountRow)`
    SELECT ${accountColumns} FROM users.account
    WHERE realm_id = ${work.realmId} AND NOT is_bot AND id <> ${userId} AND ${visibility} = ANY(${sql.array(changed, 'int4')})
    ORDER BY account.is_active DESC, account.id DESC LIMIT ${maxAddresses}`);
  for (const row of rows) {
    const person = { user_id: row.id, delivery_email: sees ? row.email : null };
    const to = { audience: { users: idSet([userId]) }, isForClientsOnly: true } as const;
    work.emit({ type: 'realm_user', op: 'update', body: { person }, ...to });
    if (sees || row.avatar_token !== null) continue;
    const pictured = { user_id: row.id, ...pictureFields(row) };
    work.emit({ type: 'realm_user', op: 'update', body: { person: pictured }, ...to });
  }
}
