import { sql, type Work } from '@natter/database';

/** Ends all sessions and polls of the realm; its data is kept. */
export async function endRealm(work: Work): Promise<void> {
  await work.run(sql.unsafe`UPDATE users.realm SET is_deactivated = true WHERE id = ${work.realmId}`);
  work.bump('realm');
  // Every actor expects the version of groups, so no further write of the realm commits.
  work.bump('groups');
  work.emit({ type: 'realm', op: 'deactivated', body: { realm_id: work.realmId }, audience: 'realm' });
}

/** Makes API keys and passwords of the realm work again. Refusals are cached nowhere. */
export async function reviveRealm(work: Work): Promise<void> {
  await work.run(
    sql.unsafe`UPDATE users.realm SET is_deactivated = false WHERE id = ${work.realmId} AND deletion_started_at IS NULL`,
  );
  work.bump('realm');
}
