import { randomBytes } from 'node:crypto';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import type { UsersConfig } from './config.ts';

/** 256 random bits as 43 characters. An API key has 32 characters, so neither can be taken for the other. */
export const createSessionToken = (): string => randomBytes(32).toString('base64url');

export type SessionLimits = Pick<UsersConfig, 'NATTER_SESSION_IDLE_SECONDS' | 'NATTER_SESSION_MAX_SECONDS'>;

/** The expiry moves only after a twentieth of the idle time, so that few requests write. */
const extendedPerIdleTime = 20;

/**
 * Extends the life of a session that is used. Returns the seconds that it lasts without further use; undefined if there
 * is no such session.
 */
export async function useSession(
  executor: Executor,
  id: string,
  { NATTER_SESSION_IDLE_SECONDS: idle }: SessionLimits,
): Promise<{ secondsLeft: number; extend: (() => Promise<void>) | undefined } | undefined> {
  const row = await executor.maybeOne(sql.type(z.object({ left: z.number(), most: z.number() }))`
    SELECT extract(epoch FROM expires_at - now())::float8 AS left,
      least(extract(epoch FROM ends_at - now()), ${idle})::float8 AS most
    FROM users.api_key WHERE hash = decode(${id}, 'hex') AND expires_at > now()`);
  if (!row) return undefined;
  const isDue = row.most - row.left > idle / extendedPerIdleTime;
  const extend = async (): Promise<void> => {
    await executor.run(sql.unsafe`
      UPDATE users.api_key SET expires_at = least(ends_at, now() + make_interval(secs => ${idle}))
      WHERE hash = decode(${id}, 'hex') AND expires_at > now()`);
  };
  return { secondsLeft: row.left, extend: isDue ? extend : undefined };
}
