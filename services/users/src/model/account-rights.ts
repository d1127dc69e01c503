import { badRequest } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { AccountRow } from './account-row.ts';
import { renewLeakedKeys } from './bot-key.ts';
import type { KeySeal } from './credentials/key-seal.ts';
import { columnOf, type GrantedRight, grantedRights, hasGrantedRight } from './granted-rights.ts';

/** New values of rights. A right with the value `undefined` is not changed. */
export type AccountRights = Partial<Record<GrantedRight, boolean | undefined>>;

/**
 * Grants and withdraws rights. Requests in progress of the user are decided again with the new rights. The realm is locked,
 * because bots whose keys are known to users without the right to read them get new keys.
 */
export async function changeRights(
  work: Work,
  row: Pick<AccountRow, 'id' | 'is_bot' | 'is_system_bot'>,
  rights: AccountRights,
  seal: KeySeal,
): Promise<void> {
  const changed = grantedRights.filter((right) => rights[right] !== undefined);
  if (changed.length === 0) return;
  if (rights.can_forge_sender && (!row.is_bot || row.is_system_bot)) throw badRequest('Only bots can forge senders');
  await setRights(work, sql.fragment`id = ${row.id}`, rights);
  work.bump(`actor:${row.id}`);
  if (row.is_bot && changed.some((right) => rights[right])) await renewLeakedKeys(work, seal);
}

/**
 * Ends the granted rights of one bot or of all bots of a user. An owner of the organization granted them to the bot of a
 * certain user, so an owner has to grant them again after that user changed.
 */
export async function endGrantedRights(work: Work, of: { ownerId: number } | { botId: number }): Promise<void> {
  const which = 'botId' in of ? sql.fragment`id = ${of.botId}` : sql.fragment`bot_owner_id = ${of.ownerId}`;
  const none = Object.fromEntries(grantedRights.map((right) => [right, false]));
  const ended = await setRights(work, sql.fragment`${which} AND is_bot AND ${hasGrantedRight}`, none);
  for (const { id } of ended) work.bump(`actor:${id}`);
}

function setRights(work: Work, which: ReturnType<typeof sql.fragment>, rights: AccountRights) {
  const values = grantedRights.map(
    (right) => sql.fragment`${columnOf(right)} = coalesce(${rights[right] ?? null}, ${columnOf(right)})`,
  );
  return work.any(sql.type(z.object({ id: z.number() }))`
    UPDATE users.account SET ${sql.join(values, sql.fragment`, `)} WHERE realm_id = ${work.realmId} AND ${which} RETURNING id`);
}
