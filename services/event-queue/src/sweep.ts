import { serverNow, shuffled, sql } from '@natter/database';
import { createVerifier, hasGenuine, logConflictSubject, metaKey, signingKey, streamKey } from '@natter/event-log';
import type { CommonConfig, Owner, Process } from '@natter/service-kit';
import { z } from 'zod';
import type { BeginEpoch } from './new-epoch.ts';
import { readLogKeys } from './read-log.ts';
import type { SweepMetrics } from './sweep-metrics.ts';

const sweepMs = 250;
/** Interval, in sweeps, at which settled streams are checked again, and idle realms whose streams stayed behind. */
const fullEvery = 20;
/** Interval, in sweeps, at which a failover of Postgres is noticed. */
const serverEvery = 4;
const positionRow = z.object({ number: z.number(), mark: z.number(), epoch: z.number() });
const realmRow = positionRow.extend({ realm_id: z.number(), is_recent: z.boolean() });
const serverRow = z.object({ server: z.string() });
const settledRow = positionRow.extend({ dropped: z.number() });

/**
 * Keeps streams complete. It catches up realms with recent events whose stream is behind the record for a whole round, and all
 * realms with a stream after a reconnect and after a restart or failover of Postgres. If a stream stays behind because Redis
 * refuses entries, it is caught up later, even if its realm has no recent events then. If a stream is ahead of the record or has
 * another history, and a service has signed its end, Postgres lost its tail: a new epoch begins.
 */
export function startSweep(
  owner: Owner,
  { log, bus }: Process<CommonConfig>,
  { measured, beginEpoch }: { measured: SweepMetrics; beginEpoch: BeginEpoch },
): { stop(): Promise<void> } {
  const { database, redis, appender } = owner;
  let stopped = false;
  let round = 0;
  let sweepAll = true;
  /** When the server that answered last was started: a standby that took over may lack the last entries. */
  let server: string | undefined;
  redis.redis.on('ready', () => {
    sweepAll = true;
  });
  bus.onReconnect(() => {
    sweepAll = true;
  });
  /** Clocks at the last sweep: newer events are still being appended by the committing process. */
  let clocks = new Map<number, number>();
  /** Clocks at which the stream was seen to be complete. */
  const settled = new Map<number, number>();
  /** Realms whose streams were behind when they were looked at last. */
  const behindRealms = new Set<number>();
  // An appender reported a conflict: compare this realm's entries.
  const doubted = new Set<number>();
  bus.subscribe(logConflictSubject, (payload) => {
    const realmId = Number(Buffer.from(payload).toString('utf8'));
    if (Number.isSafeInteger(realmId)) doubted.add(realmId);
  });
  const loop = (async () => {
    while (!stopped) {
      try {
        if (redis.isUp()) {
          await sweep();
          measured.swept();
        }
        round++;
      } catch (error) {
        log.debug({ err: error }, 'sweep failed');
      }
      await new Promise((resolve) => setTimeout(resolve, sweepMs * (0.8 + Math.random() * 0.4)));
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await loop;
    },
  };

  async function sweep(): Promise<void> {
    if (round % serverEvery === 0) {
      const now = await database.one(sql.type(serverRow)`SELECT ${serverNow} AS server`);
      if (now.server !== server) sweepAll = true;
      server = now.server;
    }
    // Reset before the sweep, because a reconnect during the sweep requests another one.
    const isOfAll = sweepAll;
    sweepAll = false;
    const failures: unknown[] = [];
    const keep = (error: unknown): void => void failures.push(error);
    await settleDoubted().catch(keep);
    await sweepRealms(isOfAll).catch(keep);
    if (failures.length === 0) return;
    sweepAll ||= isOfAll;
    throw failures[0];
  }

  async function settleDoubted(): Promise<void> {
    // Shuffled, so that a realm that always fails, which ends the loop, does not always delay the same realms.
    for (const realmId of shuffled([...doubted])) {
      // Deleted first, so that a new report during the check is not lost.
      doubted.delete(realmId);
      await settle(realmId).catch((error: unknown) => {
        doubted.add(realmId);
        throw error;
      });
    }
  }

  async function sweepRealms(isOfAll: boolean): Promise<void> {
    const recently = sql.fragment`log.realms(interval '10 minutes')`;
    if (isOfAll || round % fullEvery === 0) settled.clear();
    const all = await database.any(
      isOfAll
        ? sql.type(realmRow)`
          SELECT r.realm_id, r.number, r.mark, r.epoch, n.realm_id IS NOT NULL AS is_recent
          FROM log.realms(NULL) r LEFT JOIN ${recently} n ON n.realm_id = r.realm_id`
        : sql.type(realmRow)`SELECT realm_id, number, mark, epoch, true AS is_recent FROM ${recently}`,
    );
    const seen = new Set(all.map((realm) => realm.realm_id));
    for (const realmId of behindRealms) {
      if (seen.has(realmId)) continue;
      // A sweep of all realms misses only deleted realms. Another sweep also misses realms without recent events.
      if (isOfAll) behindRealms.delete(realmId);
      else if (round % fullEvery === 0) sweepAll = true;
    }
    const realms = all.filter((realm) => settled.get(realm.realm_id) !== realm.number);
    if (realms.length === 0) return measured.behind(0);
    const pipeline = redis.redis.pipeline();
    for (const realm of realms) pipeline.hmget(metaKey(realm.realm_id), 'number', 'mark');
    const metas = (await pipeline.exec()) ?? [];
    let behind = 0;
    const failures: unknown[] = [];
    const before = clocks;
    clocks = new Map(all.map((realm) => [realm.realm_id, realm.number]));
    for (const [index, realm] of shuffled([...realms.entries()])) {
      const [error, meta] = metas[index] ?? [];
      if (error) throw error;
      const [number, mark] = (meta ?? []) as (string | null)[];
      behind += Math.max(0, realm.number - Number(number ?? realm.number));
      const due = before.get(realm.realm_id) ?? 0;
      // A realm that fails keeps no other one waiting.
      await compare(realm, number ? Number(number) : undefined, mark ? Number(mark) : undefined, due).catch(
        (failure: unknown) => failures.push(failure),
      );
    }
    measured.behind(behind);
    if (failures.length > 0) throw failures[0];
  }

  async function compare(
    realm: z.infer<typeof realmRow>,
    number: number | undefined,
    mark: number | undefined,
    due: number,
  ): Promise<void> {
    // A stream that Redis lost is rebuilt from its end; older entries are read from the record. Idle realms are left
    // alone: the next appender rebuilds the stream.
    if (number === undefined && !realm.is_recent) behindRealms.delete(realm.realm_id);
    if (number === undefined)
      return realm.number > 0 && realm.is_recent
        ? appender.catchUp(realm.realm_id, Math.max(0, realm.number - 1_000), realm.number)
        : undefined;
    if (number >= realm.number) behindRealms.delete(realm.realm_id);
    else {
      behindRealms.add(realm.realm_id);
      // Recent events may still be on their way from the process that committed them.
      if (number >= due && realm.is_recent) return;
      await appender.catchUp(realm.realm_id, number, realm.number);
      return void behindRealms.delete(realm.realm_id);
    }
    if (number === realm.number && mark === realm.mark) return void settled.set(realm.realm_id, number);
    // The entry may have been appended since the clock was read.
    const now = await database.maybeOne(
      sql.type(positionRow)`SELECT number, mark, epoch FROM log.position(${realm.realm_id})`,
    );
    if (!now || now.number > number || (now.number === number && now.mark === mark)) return;
    await judge(realm.realm_id, { number, mark: mark ?? 0 }, now);
  }

  /** Compares the stream with the record at the newest entry that both have. */
  async function settle(realmId: number): Promise<void> {
    const [lastNumber, mark] = await redis.redis.hmget(metaKey(realmId), 'number', 'mark');
    const position = await database.maybeOne(sql.type(settledRow)`
      SELECT number, mark, epoch, log.dropped(${realmId}) AS dropped FROM log.position(${realmId})`);
    if (!lastNumber || !position) return;
    const number = Number(lastNumber);
    // The record no longer has the entry. The last one can be compared with the clock; an older one cannot, and is not
    // needed.
    if (number < position.number && number <= position.dropped) {
      await redis.redis.del(streamKey(realmId), metaKey(realmId));
      return appender.catchUp(realmId, Math.max(position.dropped, position.number - 1_000), position.number);
    }
    const recorded =
      number === position.number
        ? position
        : await database.maybeOne(
            sql.type(positionRow.pick({ number: true, mark: true }))`
              SELECT number, mark FROM log.read(${realmId}, ${number - 1}, 1)`,
          );
    const isSame = recorded?.number === number && recorded.mark === Number(mark);
    if (!isSame) await judge(realmId, { number, mark: Number(mark) }, position);
  }

  /** The stream has an entry that the record lacks: the record lost it, unless no service ever wrote it. */
  async function judge(
    realmId: number,
    end: { number: number; mark: number },
    position: z.infer<typeof positionRow>,
  ): Promise<void> {
    const keys = new Map((await readLogKeys(database)).map(({ source, key }) => [source, signingKey(key)]));
    const verifier = createVerifier(
      (source) => keys.get(source),
      () => undefined,
    );
    if (await hasGenuine(redis, verifier, realmId, end))
      return beginEpoch(realmId, end, Math.max(end.number, position.number), position.epoch);
    log.error(
      { realm: realmId, number: end.number },
      'the log in Redis ends with an entry that no service signed; it is rebuilt from the record',
    );
    await redis.redis.del(streamKey(realmId), metaKey(realmId));
    await appender.catchUp(realmId, Math.max(0, position.number - 1_000), position.number);
  }
}
