import { type Database, sql } from '@natter/database';
import { z } from 'zod';
import type { HotState, Presence } from './hot-state.ts';

const row = z.object({ user_id: z.number(), active_at: z.number(), connected_at: z.number(), update_id: z.number() });
const columns = sql.fragment`user_id, coalesce(active_at, 0) AS active_at, connected_at, update_id`;
/** Posts of this time are in every delta, since a post without Redis gets no update id. Two minutes: a client posts each minute. */
const recentSeconds = 120;

/**
 * Presence in Postgres alone, while Redis is away. It gives no update id that Redis did not give, so that clients miss nothing
 * when Redis is back.
 */
export function createRecordState(database: Database): HotState {
  return {
    async post(realmId, userId, now, isActive) {
      const activeAt = isActive ? now : 0;
      const [before] = await database.any(sql.type(row)`
        SELECT ${columns} FROM presence.presence WHERE realm_id = ${realmId} AND user_id = ${userId}`);
      const after = await database.one(sql.type(row)`
        INSERT INTO presence.presence AS p (realm_id, user_id, active_at, connected_at, update_id)
        VALUES (${realmId}, ${userId}, ${activeAt}, ${now}, 0)
        ON CONFLICT (realm_id, user_id) DO UPDATE SET active_at = greatest(p.active_at, excluded.active_at),
          connected_at = greatest(p.connected_at, excluded.connected_at)
        RETURNING ${columns}`);
      return { activeBefore: before?.active_at ?? 0, changed: toPresence(after) };
    },

    async read(realmId, afterUpdateId) {
      const since = Math.floor(Date.now() / 1000) - recentSeconds;
      const rows = await database.any(sql.type(row)`
        SELECT ${columns} FROM presence.presence
        WHERE realm_id = ${realmId} AND (update_id > ${afterUpdateId} OR connected_at >= ${since})`);
      return { lastUpdateId: Math.max(0, ...rows.map(({ update_id }) => update_id)), presences: rows.map(toPresence) };
    },

    async readOne(realmId, userId) {
      const found = await database.maybeOne(sql.type(row)`
        SELECT ${columns} FROM presence.presence WHERE realm_id = ${realmId} AND user_id = ${userId}`);
      return found && toPresence(found);
    },
  };
}

const toPresence = ({ user_id, active_at, connected_at, update_id }: z.output<typeof row>): Presence => ({
  userId: user_id,
  activeAt: active_at,
  connectedAt: connected_at,
  updateId: update_id,
});

/** After a failure Redis is not asked for so long: a Redis that hangs must not delay each request. */
const pauseMs = 1_000;

/** Uses `hot`, and `record` where that fails. */
export function withFallback(hot: HotState, record: HotState, onFailure: (error: unknown) => void): HotState {
  let pausedUntil = 0;
  async function attempt<R>(work: (state: HotState) => Promise<R>): Promise<R> {
    if (Date.now() >= pausedUntil)
      try {
        return await work(hot);
      } catch (error) {
        pausedUntil = Date.now() + pauseMs;
        onFailure(error);
      }
    return work(record);
  }
  return {
    post: (realmId, userId, now, isActive) => attempt((state) => state.post(realmId, userId, now, isActive)),
    read: (realmId, afterUpdateId) => attempt((state) => state.read(realmId, afterUpdateId)),
    readOne: (realmId, userId) => attempt((state) => state.readOne(realmId, userId)),
  };
}
