import { readFileSync } from 'node:fs';
import { type Database, sql } from '@natter/database';
import type { LogRedis } from '@natter/event-log';
import { createSharedCalls } from '@natter/service-kit';
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

/** Tolerance in seconds, because processes estimate their shared clock with an error. */
const slackSeconds = 30;

/** The latest plausible time. A later stored time comes from a clock that was set back since, and counts as unknown. */
export const latestKnown = (nowMs: () => number): number => Math.floor(nowMs() / 1000) + slackSeconds;

interface Posted {
  activeBefore: number;
  changed: Presence | undefined;
}

/** Clients post every minute; an earlier post is no change. */
const repeatSeconds = 55;
/**
 * If Redis may have lost state, because it is another process than before, ids skip this many values: ids may have been
 * assigned after the last write to Postgres.
 */
const idGap = 100_000;
/** Users whom one script adds; few, because Redis serves nobody else meanwhile. */
const rowsAtOnce = 1_000;
const secondsToLive = 30 * 86_400;
const row = z.object({ user_id: z.number(), active_at: z.number(), connected_at: z.number(), update_id: z.number() });

type Redis = Pick<LogRedis, 'redis' | 'runId' | 'now'>;

/**
 * Presence in Redis. A realm that Redis does not have is loaded from Postgres, and so is one that an earlier Redis process
 * had: a process that was started again, or is a replica, may have older data. Rejects with the error of Redis. A read
 * also rejects while Redis refuses writes, because its state is then outdated.
 */
export function createHotState({ redis, runId, now: nowMs }: Redis, database: Database): HotState {
  const define = (name: string, file: string, numberOfKeys = 4): void =>
    redis.defineCommand(name, {
      numberOfKeys,
      lua: readFileSync(new URL(`../lua/${file}.lua`, import.meta.url), 'utf8'),
    });
  define('natterPresence', 'post');
  define('natterPresenceChanges', 'changes');
  define('natterPresenceMerge', 'merge', 2);
  define('natterPresenceLoaded', 'loaded');
  const scripted = redis as typeof redis &
    Record<'natterPresenceMerge' | 'natterPresenceLoaded', (...args: (string | number)[]) => Promise<number>> &
    Record<'natterPresence', (...args: (string | number)[]) => Promise<[number, number, number, number]>> &
    Record<'natterPresenceChanges', (...args: (string | number)[]) => Promise<[string | null, ...string[]]>>;
  const loading = createSharedCalls<number, void>();

  async function load(realmId: number): Promise<void> {
    const [hash, updates, ...others] = keysOf(realmId);
    const run = await runId();
    const rows = await database.any(sql.type(row)`
      SELECT user_id, coalesce(active_at, 0) AS active_at, connected_at, update_id FROM presence.presence WHERE realm_id = ${realmId}`);
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const some = rows.slice(from, from + rowsAtOnce);
      const values = some.flatMap((one) => [one.user_id, one.active_at, one.connected_at, one.update_id]);
      await scripted.natterPresenceMerge(hash, updates, latestKnown(nowMs), ...values);
    }
    const last = rows.reduce((highest, { update_id }) => Math.max(highest, update_id), 0);
    const lowest = last === 0 ? 0 : last + idGap;
    const first = rows[0]?.user_id ?? '';
    await scripted.natterPresenceLoaded(hash, updates, ...others, run, lowest, secondsToLive, first);
  }

  /**
   * The realm may still not be loaded if Redis was emptied meanwhile. Shared by requests, so that the deadline of one does not
   * end it.
   */
  function loadOnce(realmId: number): Promise<void> {
    return loading(realmId, () => load(realmId));
  }

  async function readScripted(realmId: number, afterUpdateId: number, user: string): ReturnType<HotState['read']> {
    for (;;) {
      const [counter, ...flat] = await scripted.natterPresenceChanges(
        ...keysOf(realmId),
        afterUpdateId,
        user,
        await runId(),
      );
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
          await runId(),
          latestKnown(nowMs),
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

/** Shows no times that are ahead of the clock: a user who has only such times has none. */
export function withKnownTimes(state: HotState, nowMs: () => number): HotState {
  const known = (presence: Presence): Presence => {
    const latest = latestKnown(nowMs);
    const timeOf = (time: number): number => (time > latest ? 0 : time);
    return { ...presence, activeAt: timeOf(presence.activeAt), connectedAt: timeOf(presence.connectedAt) };
  };
  return {
    post: state.post,
    async read(realmId, afterUpdateId) {
      const { lastUpdateId, presences } = await state.read(realmId, afterUpdateId);
      return { lastUpdateId, presences: presences.map(known) };
    },
    async readOne(realmId, userId) {
      const presence = await state.readOne(realmId, userId);
      const shown = presence && known(presence);
      return shown && (shown.activeAt > 0 || shown.connectedAt > 0) ? shown : undefined;
    },
  };
}

const keysOf = (realmId: number): [string, string, string, string] => [
  `natter:{${realmId}}:presence`,
  `natter:{${realmId}}:presence-updates`,
  `natter:{${realmId}}:presence-counter`,
  `natter:{${realmId}}:presence-run`,
];

function parsed([user, value]: [string, string]): Presence {
  const [activeAt = 0, connectedAt = 0, updateId = 0] = value.split(' ').map(Number);
  return { userId: Number(user), activeAt, connectedAt, updateId };
}
