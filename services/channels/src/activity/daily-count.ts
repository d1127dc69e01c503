import { sql, type Work } from '@natter/database';
import { forEachApart, type Process, repeat } from '@natter/service-kit';
import { z } from 'zod';
import { knowersOf } from '../model/audience.ts';
import { channelUpdated, subscribersOf } from '../model/channel-events.ts';
import { channelColumns, channelRow } from '../model/channel-row.ts';
import type { Service } from '../model/deciding.ts';
import { holdDirectory } from '../model/directory/read-directory.ts';
import { trafficDays, weeklyTraffic } from './weekly-traffic.ts';

const everyMs = 6 * 3_600_000;
const firstMs = 60_000;
/** A channel without messages for this long is hidden as inactive. */
const quietDays = 180;

/**
 * Updates figures that change with time alone: weekly traffic, and channels that became inactive. Safe to run in every
 * process.
 */
export function startDailyCount(service: Service, log: Process<never>['log']): () => Promise<void> {
  const { owner } = service;
  const onError = (error: unknown, realm?: number): void =>
    log.warn({ err: error, realm }, 'updating the daily figures of channels failed');
  return repeat({ everyMs, firstMs: firstMs * (1 + Math.random()), onError }, async (isStopped) => {
    const realms = await owner.database.any(
      sql.type(z.object({ realm_id: z.number() }))`SELECT realm_id FROM log.realms(NULL)`,
    );
    const apart = {
      isStopped,
      onError: (error: unknown, { realm_id }: { realm_id: number }) => onError(error, realm_id),
    };
    await forEachApart(realms, apart, ({ realm_id }) =>
      owner.background(realm_id, (work) => countRealm(service, work)),
    );
  });
}

const countedRow = channelRow.extend({ messages: z.number(), age_days: z.number(), is_quiet: z.boolean() });

async function countRealm({ directories }: Service, work: Work): Promise<void> {
  await holdDirectory(work, 'shared');
  await work.run(sql.unsafe`
    DELETE FROM channels.traffic WHERE realm_id = ${work.realmId} AND day < current_date - ${trafficDays}::int`);
  const rows = await work.any(sql.type(countedRow)`
    SELECT ${channelColumns}, current_date - c.created_at::date AS age_days,
      coalesce(c.last_message_day, c.created_at::date) < current_date - ${quietDays}::int AS is_quiet,
      coalesce((SELECT sum(t.messages)::int FROM channels.traffic t WHERE t.realm_id = c.realm_id AND t.channel_id = c.id), 0) AS messages
    FROM channels.channel c WHERE c.realm_id = ${work.realmId} AND NOT c.is_archived ORDER BY c.id FOR UPDATE OF c`);
  const changed = rows.filter(
    ({ weekly_traffic, messages, age_days, is_recently_active, is_quiet }) =>
      weekly_traffic !== weeklyTraffic(messages, age_days) || is_recently_active === is_quiet,
  );
  if (changed.length === 0) return;
  const directory = await directories.read(work, work.realmId);
  const subscribers = await subscribersOf(
    work,
    changed.map(({ id }) => id),
  );
  for (const { messages, age_days, is_quiet, ...channel } of changed) {
    const traffic = weeklyTraffic(messages, age_days);
    await work.run(sql.unsafe`
      UPDATE channels.channel SET weekly_traffic = ${traffic}, is_recently_active = ${!is_quiet} WHERE id = ${channel.id}`);
    const audience = knowersOf(channel, directory, subscribers.get(channel.id) ?? new Set());
    if (channel.weekly_traffic !== traffic)
      work.emit(channelUpdated(channel, 'stream_weekly_traffic', traffic, audience));
    if (channel.is_recently_active === is_quiet)
      work.emit(channelUpdated(channel, 'is_recently_active', !is_quiet, audience));
  }
}
