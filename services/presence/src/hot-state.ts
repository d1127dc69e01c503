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
  /**
   * Stores that a user is present; returns when they were active before. `changed` is undefined if the post repeats
   * known state.
   */
  post(realmId: number, userId: number, now: number, isActive: boolean): Promise<Posted>;
  /** The changes after an update, or everything. */
  read(realmId: number, afterUpdateId: number): Promise<{ lastUpdateId: number; presences: Presence[] }>;
  readOne(realmId: number, userId: number): Promise<Presence | undefined>;
}

interface Posted {
  activeBefore: number;
  changed: Presence | undefined;
}

/** Clients post every minute; an earlier post is no change. */
const repeatSeconds = 55;
/**
 * If Redis loses its state, ids skip this many values, because ids may have been assigned after the last write to
 * Postgres.
 */
const idGap = 100_000;
const secondsToLive = 30 * 86_400;
const row = z.object({ user_id: z.number(), active_at: z.number(), connected_at: z.number(), update_id: z.number() });

/**
 * Presence in Redis. A realm that Redis does not have is loaded from Postgres. Rejects with the error of Redis. A read
 * also rejects while Redis refuses writes, because its state is then outdated.
 */
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
        // State that another process stored meanwhile is newer.
        pipeline.hsetnx(hash, String(user_id), `${active_at} ${connected_at} ${update_id}`);
        pipeline.zadd(updates, 'NX', update_id, String(user_id));
      }
      for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
    }
    const last = rows.reduce((highest, { update_id }) => Math.max(highest, update_id), 0);
    // Set last, and once: from here on the realm counts as loaded.
    await redis.setnx(counter, last === 0 ? 0 : last + idGap);
    for (const key of [hash, updates, counter]) await redis.expire(key, secondsToLive);
  }

  /** Shared by requests, so that the deadline of one does not end it. */
  function loadOnce(realmId: number): Promise<void> {
    const running = loading.get(realmId) ?? withoutDeadline(() => load(realmId)).finally(() => loading.delete(realmId));
    loading.set(realmId, running);
    return untilDeadline(running);
  }

  async function readScripted(realmId: number, afterUpdateId: number, user: string): ReturnType<HotState['read']> {
    for (;;) {
      const [counter, ...flat] = await scripted.natterPresenceChanges(...keysOf(realmId), afterUpdateId, user);
      if (counter === null) {
        await loadOnce(realmId);
        continue;
      }
      const presences: Presence[] = [];
      for (let at = 0; at < flat.length; at += 2) presences.push(parsed([flat[at] ?? '', flat[at + 1] ?? '']));
      return { lastUpdateId: Number(counter), presences };
    }
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

    read: (realmId, afterUpdateId) => readScripted(realmId, Math.max(afterUpdateId, 0), ''),

    readOne: async (realmId, userId) => (await readScripted(realmId, 0, String(userId))).presences[0],
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
