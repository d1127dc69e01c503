import { roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { forEachApart, type Owner, repeat } from '@natter/service-kit';
import { z } from 'zod';
import { bumpMembers, emitMembers } from './membership.ts';
import { lockRealm } from './read-realm.ts';

const idRow = z.object({ id: z.number() });

/**
 * Members become full members when their account reaches the age of the realm's threshold. The realm is locked, so that
 * no role changes meanwhile.
 */
export async function recomputeFullMembers(work: Work): Promise<void> {
  await lockRealm(work);
  const group = await work.one(sql.type(idRow)`
    SELECT id FROM users.user_group WHERE realm_id = ${work.realmId} AND name = 'role:fullmembers' FOR NO KEY UPDATE`);
  const due = sql.fragment`a.joined_at <= now() - make_interval(days => (
    SELECT coalesce((settings->>'waiting_period_threshold')::int, 0) FROM users.realm WHERE id = ${work.realmId}))`;
  const joined = await work.any(sql.type(idRow)`
    INSERT INTO users.group_member (group_id, user_id)
    SELECT ${group.id}, a.id FROM users.account a
    WHERE a.realm_id = ${work.realmId} AND a.role = ${roles.member} AND NOT a.is_system_bot AND ${due}
    ON CONFLICT DO NOTHING RETURNING user_id AS id`);
  const left = await work.any(sql.type(idRow)`
    DELETE FROM users.group_member m USING users.account a
    WHERE m.group_id = ${group.id} AND m.user_id = a.id AND NOT ${due} RETURNING a.id`);
  const active = new Set(
    (
      await work.any(
        sql.type(
          idRow,
        )`SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND is_active AND id = ANY(${sql.array(
          [...joined, ...left].map((row) => row.id),
          'int4',
        )})`,
      )
    ).map((row) => row.id),
  );
  const shown = (rows: { id: number }[]): number[] =>
    rows
      .map((row) => row.id)
      .filter((id) => active.has(id))
      .sort((a, b) => a - b);
  emitMembers(work, 'add_members', group.id, shown(joined));
  emitMembers(work, 'remove_members', group.id, shown(left));
  if (joined.length + left.length > 0)
    bumpMembers(
      work,
      [...joined, ...left].map((row) => row.id),
    );
}

const everyMs = 60_000;

/** Users become full members by time alone, so realms are checked every minute. */
export function startFullMembers(
  { database, background }: Pick<Owner, 'database' | 'background'>,
  onError: (error: unknown, realmId?: number) => void,
): () => Promise<void> {
  return repeat({ everyMs, onError }, async (isStopped) => {
    const realms = await database.any(sql.type(idRow)`
      SELECT r.id FROM users.realm r WHERE (r.settings->>'waiting_period_threshold')::int > 0 AND EXISTS (
        SELECT FROM users.account a JOIN users.user_group g ON g.realm_id = r.id AND g.name = 'role:fullmembers'
        WHERE a.realm_id = r.id AND a.role = ${roles.member} AND NOT a.is_system_bot
          AND a.joined_at <= now() - make_interval(days => (r.settings->>'waiting_period_threshold')::int)
          AND NOT EXISTS (SELECT FROM users.group_member m WHERE m.group_id = g.id AND m.user_id = a.id))`);
    const apart = { isStopped, onError: (error: unknown, { id }: { id: number }) => onError(error, id) };
    await forEachApart(realms, apart, ({ id }) => background(id, recomputeFullMembers));
  });
}
