import { type Database, sql, withoutDeadline } from '@natter/database';
import { z } from 'zod';
import { type HotState, latestKnown, type Presence } from './hot-state.ts';

const row = z.object({ user_id: z.number(), active_at: z.number(), connected_at: z.number(), update_id: z.number() });
const columns = sql.fragment`user_id, coalesce(active_at, 0) AS active_at, connected_at, update_id`;
/**
 * Posts of the last two minutes are in every delta, because a post without Redis gets no update id. A client posts each
 * minute.
 */
const recentSeconds = 120;

/**
 * Presence in Postgres alone, while Redis is unavailable. It returns no update id that Redis did not assign, so that
 * clients miss nothing when Redis is back.
 */
export function createRecordState(database: Database, nowMs: () => number): HotState {
  return {
    async post(realmId, userId, now, isActive) {
      const activeAt = isActive ? now : 0;
      const latest = latestKnown(nowMs);
      const [before] = await database.any(sql.type(row)`
        SELECT ${columns} FROM presence.presence WHERE realm_id = ${realmId} AND user_id = ${userId}`);
      const after = await database.one(sql.type(row)`
        INSERT INTO presence.presence AS p (realm_id, user_id, active_at, connected_at, update_id)
        VALUES (${realmId}, ${userId}, ${activeAt}, ${now}, 0)
        ON CONFLICT (realm_id, user_id) DO UPDATE SET ${newerTimes(latest)}
        RETURNING ${columns}`);
      const activeBefore = before && before.active_at <= latest ? before.active_at : 0;
      return { activeBefore, changed: toPresence(after) };
    },

    async read(realmId, afterUpdateId) {
      const since = Math.floor(nowMs() / 1000) - recentSeconds;
      const rows = await database.any(sql.type(row)`
        SELECT ${columns} FROM presence.presence
        WHERE realm_id = ${realmId} AND (update_id > ${afterUpdateId} OR connected_at >= ${since})`);
      const lastUpdateId = rows.reduce((highest, { update_id }) => Math.max(highest, update_id), 0);
      return { lastUpdateId, presences: rows.map(toPresence) };
    },

    async readOne(realmId, userId) {
      const found = await database.maybeOne(sql.type(row)`
        SELECT ${columns} FROM presence.presence WHERE realm_id = ${realmId} AND user_id = ${userId}`);
      return found && toPresence(found);
    },
  };
}

/** The newer times of a row and of one that is to be inserted. Times after the latest are unknown. */
export const newerTimes = (latest: number) => sql.fragment`
  active_at = greatest(CASE WHEN p.active_at <= ${latest} THEN p.active_at END, least(excluded.active_at, ${latest})),
  connected_at = greatest(CASE WHEN p.connected_at <= ${latest} THEN p.connected_at END, least(excluded.connected_at, ${latest}))`;

const toPresence = ({ user_id, active_at, connected_at, update_id }: z.output<typeof row>): Presence => ({
  userId: user_id,
  activeAt: active_at,
  connectedAt: connected_at,
  updateId: update_id,
});

/** After a failure Redis is not used for this long: a hanging Redis must not delay each request. */
const pauseMs = 1_000;

/** Times of posts that Redis did not receive. UNIX seconds; 0 for never. */
interface Missed {
  realmId: number;
  userId: number;
  activeAt: number;
  connectedAt: number;
}

/** Uses `hot`, and `record` if that fails. `hot` receives the posts that it missed when it works again. */
export function withFallback(hot: HotState, record: HotState, onFailure: (error: unknown) => void): HotState {
  let pausedUntil = 0;
  let missed = new Map<string, Missed>();

  function failed(error: unknown): void {
    pausedUntil = performance.now() + pauseMs;
    onFailure(error);
  }

  async function attempt<R>(work: (state: HotState) => Promise<R>): Promise<R> {
    if (performance.now() >= pausedUntil)
      try {
        await repeatMissed();
        return await work(hot);
      } catch (error) {
        failed(error);
      }
    return work(record);
  }

  async function repeatMissed(): Promise<void> {
    const [first, ...others] = missed.values();
    if (!first) return;
    // Replaced before the first wait, so that concurrent requests do not repeat a post twice and no later one is lost.
    missed = new Map();
    try {
      await repeat(first);
    } catch (error) {
      for (const one of [first, ...others]) remember(one);
      throw error;
    }
    // The first post has shown that Redis accepts writes, so requests do not wait for the other posts.
    void withoutDeadline(async () => {
      for (const [index, one] of others.entries())
        try {
          await repeat(one);
        } catch (error) {
          for (const later of others.slice(index)) remember(later);
          return failed(error);
        }
    });
  }

  /** Changes nothing if the user has posted since. */
  async function repeat({ realmId, userId, activeAt, connectedAt }: Missed): Promise<void> {
    if (activeAt > 0) await hot.post(realmId, userId, activeAt, true);
    if (connectedAt > activeAt) await hot.post(realmId, userId, connectedAt, false);
  }

  function remember(one: Missed): void {
    const key = `${one.realmId} ${one.userId}`;
    const before = missed.get(key);
    missed.set(key, {
      ...one,
      activeAt: Math.max(one.activeAt, before?.activeAt ?? 0),
      connectedAt: Math.max(one.connectedAt, before?.connectedAt ?? 0),
    });
  }

  return {
    post: (realmId, userId, now, isActive) =>
      attempt((state) => {
        if (state === record) remember({ realmId, userId, activeAt: isActive ? now : 0, connectedAt: now });
        return state.post(realmId, userId, now, isActive);
      }),
    read: (realmId, afterUpdateId) => attempt((state) => state.read(realmId, afterUpdateId)),
    readOne: (realmId, userId) => attempt((state) => state.readOne(realmId, userId)),
  };
}
