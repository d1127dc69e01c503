import { roles, type User } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';

/** Keeps a person's role and a bot's owner, from an event `realm_user`. */
export async function storeStanding(work: Work, op: string | undefined, person: Partial<User> & { user_id: number }) {
  if (op === 'add')
    await work.run(sql.unsafe`
      INSERT INTO messaging.standing (realm_id, user_id, role, bot_owner_id)
      VALUES (${work.realmId}, ${person.user_id}, ${person.role ?? roles.member}, ${person.bot_owner_id ?? null}) ON CONFLICT DO NOTHING`);
  else if (person.role !== undefined || person.bot_owner_id !== undefined)
    await work.run(sql.unsafe`
      UPDATE messaging.standing SET role = coalesce(${person.role ?? null}::int, role), bot_owner_id = coalesce(${person.bot_owner_id ?? null}::int, bot_owner_id)
      WHERE realm_id = ${work.realmId} AND user_id = ${person.user_id}`);
}

const idRow = z.object({ user_id: z.number() });

export async function guestsAmong(
  executor: Executor,
  realmId: number,
  userIds: readonly number[],
): Promise<Set<number>> {
  const rows = await executor.any(sql.type(idRow)`
    SELECT user_id FROM messaging.standing
    WHERE realm_id = ${realmId} AND role = ${roles.guest} AND user_id = ANY(${sql.array([...userIds], 'int4')})`);
  return new Set(rows.map((row) => row.user_id));
}

export async function isBotOf(executor: Executor, realmId: number, botId: number, ownerId: number): Promise<boolean> {
  const row = await executor.maybeOne(sql.type(idRow)`
    SELECT user_id FROM messaging.standing WHERE realm_id = ${realmId} AND user_id = ${botId} AND bot_owner_id = ${ownerId}`);
  return row !== undefined;
}
