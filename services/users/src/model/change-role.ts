import { badRequest, idSet, roles, roleValues } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import { z } from 'zod';
import { endGrantedRights } from './account-rights.ts';
import type { AccountRow } from './account-row.ts';
import { announceEmailsTo, emitPerson } from './announce-account.ts';
import { announceBotsTo } from './announce-bot.ts';
import { announceGained, announceLost, needsMoreEvents } from './announce-visibility.ts';
import { renewLeakedKeys } from './bot-key.ts';
import { requireBotRole } from './bot-rank.ts';
import type { KeySeal } from './credentials/key-seal.ts';
import { moveToRole } from './membership.ts';
import type { Pairs } from './pairs.ts';
import { hiddenPeople, limitsGuests } from './user-visibility.ts';

/** The realm is locked, because the receivers of events depend on roles. */
export async function changeRole(
  work: Work,
  holder: Holder,
  { row, role }: { row: AccountRow; role: number },
  seal: KeySeal,
) {
  if (!roleValues.some((value) => value === role)) throw badRequest('Invalid role');
  if (role === row.role) return;
  if ((role === roles.owner || row.role === roles.owner) && holder.role !== roles.owner)
    throw badRequest('Must be an organization owner');
  if (row.role === roles.guest && role <= roles.administrator) throw badRequest('Guests cannot be made administrators');
  if (row.role === roles.owner && row.is_active && !row.is_bot && (await isLastOwner(work, row.id)))
    throw badRequest('The owner permission cannot be removed from the only organization owner.');
  if (row.is_bot) await requireBotRole(work, holder, row, role);
  await setRole(work, row, role);
  await renewLeakedKeys(work, seal);
}

/**
 * Events about the users whom a person sees from now on or no longer, if guests are limited. With those about 3,000 addresses
 * (6,000), the bots of the realm (10,000) and the own bots (4,000) they are below the limit of a unit (25,000), so that no
 * change of a role is refused.
 */
const maxSightEvents = 4_000;

/**
 * Sets a role that was checked; the user's bots are lowered with it, and lose the rights that owners granted. Clients of a
 * bot get no events about users and addresses that they see from now on or no longer, like those of lowered bots: there may
 * be thousands, and a member may change the role of the own bot again and again. A new register shows them. The queues of a
 * person who sees very many more or fewer users end, so that their clients register again.
 */
export async function setRole(work: Work, row: AccountRow, role: number): Promise<void> {
  const sawFewer = await hiddenOf(work, row);
  await work.run(sql.unsafe`UPDATE users.account SET role = ${role} WHERE id = ${row.id}`);
  const changed = role === roles.guest ? await hiddenOf(work, row) : sawFewer;
  // Until the queues end, their clients receive no event about a user who is hidden now: audiences are decided at each commit.
  const endsQueues = await needsMoreEvents(work, changed, maxSightEvents);
  emitPerson(work, { user_id: row.id, role }, endsQueues ? { ends_queues: true } : undefined);
  await moveToRole(work, [row.id], role);
  if (!endsQueues) await announceSight(work, row, role, changed);
  if (row.is_bot) return;
  if (role > row.role) await endGrantedRights(work, { ownerId: row.id });
  await lowerBots(work, row.id, role);
}

/** Announces to a user whose role changed the users, addresses and bots that they see from now on or no longer. */
async function announceSight(work: Work, row: AccountRow, role: number, changed: readonly Pairs[]): Promise<void> {
  // Addresses are announced for users that the client knows in full: before they are hidden, or after they are shown.
  if (role !== roles.guest) await announceGained(work, changed);
  if (!row.is_bot) await announceEmailsTo(work, row.id, row.role, role);
  if (role === roles.guest) await announceLost(work, changed);
  const wasAdministrator = row.role <= roles.administrator;
  const isAdministrator = role <= roles.administrator;
  if (wasAdministrator !== isAdministrator)
    await announceBotsTo(work, { users: idSet([row.id]) }, row.id, isAdministrator);
}

/** The users who are hidden from a person; nobody is hidden from non-guests. None for a bot, which is not notified. */
const hiddenOf = async (work: Work, { id, is_bot }: AccountRow): Promise<Pairs[]> =>
  !is_bot && (await limitsGuests(work, work.realmId)) ? [await hiddenPeople(work, work.realmId, { guests: [id] })] : [];

/** Owners are locked, so that two of them cannot demote each other simultaneously. */
export async function isLastOwner(work: Work, userId: number): Promise<boolean> {
  const owners = await work.any(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND role = ${roles.owner} AND is_active AND NOT is_bot ORDER BY id FOR NO KEY UPDATE`);
  return !owners.some((owner) => owner.id !== userId);
}

/**
 * Lowers the bots of a user, including deactivated ones, to at most this role, all at once: there may be thousands. The
 * realm is locked. Their clients are not told what they no longer see; a new register shows it.
 */
export async function lowerBots(work: Work, ownerId: number, role: number): Promise<void> {
  const lowered = await work.any(sql.type(z.object({ id: z.number() }))`
    WITH lowered AS (
      UPDATE users.account SET role = ${role}
      WHERE realm_id = ${work.realmId} AND bot_owner_id = ${ownerId} AND is_bot AND role < ${role} RETURNING id)
    SELECT id FROM lowered ORDER BY id`);
  if (lowered.length === 0) return;
  const ids = lowered.map(({ id }) => id);
  for (const user_id of ids) emitPerson(work, { user_id, role });
  await moveToRole(work, ids, role);
}
