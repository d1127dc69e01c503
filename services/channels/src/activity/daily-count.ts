import { type Database, deleteInBatches, sql, type Work } from '@natter/database';
import { forEachApart, type Process, repeat } from '@natter/service-kit';
import { z } from 'zod';
import { knowersOf } from '../model/audience.ts';
import { channelUpdated, subscribersOf } from '../model/channel-events.ts';
import { channelColumns, channelRow } from '../model/channel-row.ts';
import type { Service } from '../model/deciding.ts';
import type { Directory } from '../model/directory/directory.ts';
import { holdDirectory } from '../model/directory/read-directory.ts';
import { trafficDays, weeklyTraffic } from './weekly-traffic.ts';

const everyMs = 6 * 3_600_000;
const firstMs = 60_000;
/** A channel without messages for this long is hidden as inactive. */
const quietDays = 180;
/** Units of more channels would keep requests that change channels waiting. */
const channelsAtOnce = 200;

/**
 * Updates figures that change with time alone: weekly traffic, and channels that became inactive. Safe to run in every
 * process.
 */
export function startDailyCount(service: Service, log: Process<never>['log']): () => Promise<void> {
  const { owner } = service;
  const onError = (error: unknown, realm?: number): void =>
    log.warn({ err: error, realm }, 'updating the daily figures of channels failed');
  return repeat({ everyMs, firstMs: firstMs * (1 + Math.random()), onError }, async (isStopped) => {
    await forgetTraffic(owner.database, isStopped).catch(onError);
    const realms = await owner.database.any(
      sql.type(z.object({ realm_id: z.number() }))`SELECT realm_id FROM log.realms(NULL)`,
    );
    await countRealms(
      service,
      realms.map(({ realm_id }) => realm_id),
      { isStopped, onError },
    );
  });
}

/** Updates the figures of realms, some channels of each in turn. */
export async function countRealms(
  service: Counting,
  realmIds: readonly number[],
  { isStopped, onError }: { isStopped: () => boolean; onError: (error: unknown, realmId: number) => void },
): Promise<void> {
  const places = realmIds.map((realmId) => ({ realmId, after: 0 }));
  const apart = { isStopped, onError: (error: unknown, { realmId }: { realmId: number }) => onError(error, realmId) };
  await forEachApart(places, apart, async (place) => {
    const last = await service.owner.background(place.realmId, (work) => countSome(service, work, place.after));
    if (last === undefined) return undefined;
    place.after = last;
    return 'more';
  });
}

interface Counting extends Pick<Service, 'directories'> {
  owner: Pick<Service['owner'], 'background'>;
}

/** Deletes the counts of days that no figure covers any more. */
const forgetTraffic = (database: Database, isStopped: () => boolean): Promise<void> =>
  deleteInBatches(database, 'channels.traffic', sql.fragment`day < current_date - ${trafficDays}::int`, isStopped);

const countedRow = channelRow.extend({ messages: z.number(), age_days: z.number(), is_quiet: z.boolean() });

/** Updates some channels after this id. Returns the last one, or undefined if no further ones follow. */
async function countSome({ directories }: Counting, work: Work, after: number): Promise<number | undefined> {
  await holdDirectory(work, 'shared');
  const rows = await work.any(sql.type(countedRow)`
    SELECT ${channelColumns}, current_date - c.created_at::date AS age_days,
      coalesce(c.last_message_day, c.created_at::date) < current_date - ${quietDays}::int AS is_quiet,
      coalesce((SELECT sum(t.messages)::int FROM channels.traffic t WHERE t.realm_id = c.realm_id AND t.channel_id = c.id
        AND t.day >= current_date - ${trafficDays}::int), 0) AS messages
    FROM channels.channel c WHERE c.realm_id = ${work.realmId} AND c.id > ${after} AND NOT c.is_archived
    ORDER BY c.id LIMIT ${channelsAtOnce} FOR UPDATE OF c`);
  const changed = rows
    .map((row) => ({ ...row, traffic: weeklyTraffic(row.messages, row.age_days) }))
    .filter(
      ({ weekly_traffic, traffic, is_recently_active, is_quiet }) =>
        weekly_traffic !== traffic || is_recently_active === is_quiet,
    );
  if (changed.length > 0) await change(work, await directories.read(work, work.realmId), changed);
  return rows.length < channelsAtOnce ? undefined : rows.at(-1)?.id;
}

type Changed = z.output<typeof countedRow> & { traffic: number | null };

async function change(work: Work, directory: Directory, changed: readonly Changed[]): Promise<void> {
  const values = changed.map(({ id, traffic, is_quiet }) => [id, traffic, !is_quiet]);
  await work.run(sql.unsafe`
    UPDATE channels.channel c SET weekly_traffic = v.traffic, is_recently_active = v.is_active
    FROM ${sql.unnest(values, ['int4', 'int4', 'bool'])} AS v (id, traffic, is_active) WHERE c.id = v.id`);
  const subscribers = await subscribersOf(
    work,
    changed.map(({ id }) => id),
  );
  for (const channel of changed) {
    const { traffic, is_quiet } = channel;
    const audience = knowersOf(channel, directory, subscribers.get(channel.id) ?? new Set());
    if (channel.weekly_traffic !== traffic)
      work.emit(channelUpdated(channel, 'stream_weekly_traffic', traffic, audience));
    if (channel.is_recently_active === is_quiet)
      work.emit(channelUpdated(channel, 'is_recently_active', !is_quiet, audience));
  }
}
