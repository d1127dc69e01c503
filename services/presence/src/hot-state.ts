import { readFileSync } from 'node:fs';
import { type Database, sql, untilDeadline, withoutDeadline } from '@natter/database';
import type { LogRedis } from '@natter/event-log';
import { z } from 'zod';

export interface Presence {
  userId: number;
  /** UNIX seconds; 0 for never. */
  activeAt: number;
  connectedAt: number;
  updateId: number;
}

export interface HotState {
  /** Stores that somebody is here; tells when they were active before. `changed` is undefined when it repeats what is known. */
  post(realmId: number, userId: number, now: number, isActive: boolean): Promise<Posted>;
  /** What changed after an update, or everything. */
  read(realmId: number, afterUpdateId: number): Promise<{ lastUpdateId: number; presences: Presence[] }>;
  readOne(realmId: number, userId: number): Promise<Presence | undefined>;
}

interface Posted {
  activeBefore: number;
  changed: Presence | undefined;
}

/** A client repeats itself every minute; sooner is no news. */
const repeatSeconds = 55;
/** Ids given after the last write behind are jumped over when Redis lost its state. */
const idGap = 100_000;
const secondsToLive = 30 * 86_400;
const row = z.object({ user_id: z.number(), active_at: z.number(), connected_at: z.number(), update_id: z.number() });

/** Presence in Redis. A realm that Redis does not know is loaded from Postgres. Rejects with the error of Redis. */
export function createHotState({ redis }: LogRedis, database: Database): HotState {
  const define = (name: string, file: string): void =>
    redis.defineCommand(name, {
      numberOfKeys: 3,
      lua: readFileSync(new URL(`../lua/${file}.lua`, import.meta.url), 'utf8'),
    });
  define('natterPresence', 'post');
  define('natterPresenceChanges', 'changes');
  const scripted = redis as typeof redis &
    Record<'natterPresence', (...args: (string | number)[]) => Promise<[number, number, number, number]>> &
    Record<'natterPresenceChanges', (...args: (string | number)[]) => Promise<[string | null, ...string[]]>>;
  const loading = new Map<number, Promise<void>>();

  async function load(realmId: number): Promise<void> {
    const [hash, updates, counter] = keysOf(realmId);
    const rows = await database.any(sql.type(row)`
      SELECT user_id, coalesce(active_at, 0) AS active_at, connected_at, update_id FROM presence.presence WHERE realm_id = ${realmId}`);
    for (let from = 0; from < rows.length; from += 2_000) {
      const pipeline = redis.pipeline();
      for (const { user_id, active_at, connected_at, update_id } of rows.slice(from, from + 2_000)) {
        // What another process stored meanwhile is newer.
        pipeline.hsetnx(hash, String(user_id), `${active_at} ${connected_at} ${update_id}`);
        pipeline.zadd(updates, 'NX', update_id, String(user_id));
      }
      await pipeline.exec();
    }
    const last = rows.reduce((highest, { update_id }) => Math.max(highest, update_id), 0);
    // Last, and once: only now the realm is known.
    await redis.setnx(counter, last === 0 ? 0 : last + idGap);
    for (const key of [hash, updates, counter]) await redis.expire(key, secondsToLive);
  }

  /** Shared by requests, so that no deadline or hang-up of one of them ends it. */
  function loadOnce(realmId: number): Promise<void> {
    const running = loading.get(realmId) ?? withoutDeadline(() => load(realmId)).finally(() => loading.delete(realmId));
    loading.set(realmId, running);
    return untilDeadline(running);
  }

  async function ensureLoaded(realmId: number): Promise<number> {
    const counter = await redis.get(keysOf(realmId)[2]);
    if (counter !== null) return Number(counter);
    await loadOnce(realmId);
    return Number((await redis.get(keysOf(realmId)[2])) ?? 0);
  }

  return {
    async post(realmId, userId, now, isActive) {
      for (;;) {
        const [updateId, activeBefore, activeAt, connectedAt] = await scripted.natterPresence(
          ...keysOf(realmId),
          userId,
          now,
          isActive ? '1' : '0',
          repeatSeconds,
        );
        if (updateId < 0) {
          await loadOnce(realmId);
          continue;
        }
        const changed = updateId === 0 ? undefined : { userId, activeAt, connectedAt, updateId };
        return { activeBefore, changed };
      }
    },

    async read(realmId, afterUpdateId) {
      if (afterUpdateId <= 0) {
        const lastUpdateId = await ensureLoaded(realmId);
        const all = await redis.hgetall(keysOf(realmId)[0]);
        return { lastUpdateId, presences: Object.entries(all).map(parsed) };
      }
      for (;;) {
        const [counter, ...flat] = await scripted.natterPresenceChanges(...keysOf(realmId), afterUpdateId);
        if (counter === null) {
          await loadOnce(realmId);
          continue;
        }
        const presences: Presence[] = [];
        for (let at = 0; at < flat.length; at += 2) presences.push(parsed([flat[at] ?? '', flat[at + 1] ?? '']));
        return { lastUpdateId: Number(counter), presences };
      }
    },

    async readOne(realmId, userId) {
      await ensureLoaded(realmId);
      const value = await redis.hget(keysOf(realmId)[0], String(userId));
      return value === null ? undefined : parsed([String(userId), value]);
    },
  };
}

const keysOf = (realmId: number): [string, string, string] => [
  `natter:{${realmId}}:presence`,
  `natter:{${realmId}}:presence-updates`,
  `natter:{${realmId}}:presence-counter`,
];

function parsed([user, value]: [string, string]): Presence {
  const [activeAt = 0, connectedAt = 0, updateId = 0] = value.split(' ').map(Number);
  return { userId: Number(user), activeAt, connectedAt, updateId };
}
