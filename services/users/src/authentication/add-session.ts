import { limits } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { announceRevoked } from '../model/api-keys.ts';
import { apiKeyId } from '../model/credentials/passwords.ts';
import type { SessionLimits } from '../model/sessions.ts';

/** How many expired sessions of anybody a login deletes: more than it adds, so that they do not accumulate. */
const deletedPerLogin = 20;

/** Adds a session for a user, and ends the oldest above the limit. The account is locked. */
export async function addSession(
  work: Work,
  { userId, session, client }: { userId: number; session: string; client: string },
  { NATTER_SESSION_IDLE_SECONDS: idle, NATTER_SESSION_MAX_SECONDS: most }: SessionLimits,
): Promise<void> {
  await work.run(sql.unsafe`
    DELETE FROM users.api_key WHERE hash IN (
      SELECT hash FROM users.api_key WHERE expires_at < now() LIMIT ${deletedPerLogin} FOR UPDATE SKIP LOCKED)`);
  await work.run(sql.unsafe`
    INSERT INTO users.api_key (hash, realm_id, user_id, client, expires_at, ends_at)
    VALUES (decode(${apiKeyId(session)}, 'hex'), ${work.realmId}, ${userId}, ${client},
      now() + make_interval(secs => ${Math.min(idle, most)}), now() + make_interval(secs => ${most}))`);
  const ended = await work.run(sql.unsafe`
    DELETE FROM users.api_key WHERE user_id = ${userId} AND expires_at IS NOT NULL AND id <= (
      SELECT id FROM users.api_key WHERE user_id = ${userId} AND expires_at IS NOT NULL
      ORDER BY id DESC OFFSET ${limits.sessionsPerUser} LIMIT 1)`);
  if (ended === 0) return;
  announceRevoked(work, userId);
}
