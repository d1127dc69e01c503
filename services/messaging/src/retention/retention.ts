import type { RequestMeta } from '@natter/contracts';
import { type Database, sql, VersionsChanged } from '@natter/database';
import { type RealmPolicies, realmVersions } from '@natter/realm-policy';
import { type Background, forEachApart } from '@natter/service-kit';
import { z } from 'zod';
import { removeMessages } from '../model/changes/remove-messages.ts';
import { channelVersions } from '../model/channel-access.ts';
import type { ChannelCache } from '../model/channel-cache.ts';
import { lockFilesOf } from '../model/files/references.ts';
import { audienceOf } from '../model/message-audience.ts';

export interface Retention {
  database: Database;
  background: Background;
  channels: ChannelCache;
  policies: RealmPolicies;
  /**
   * Whether this round reads on where the first message is not old: the clock may have been wrong when it was stored. This
   * reads many messages of each place, so it is seldom.
   */
  readsOn(): boolean;
  /** Maximum number of messages in the next batch, by place; only for places whose last batch failed. */
  sizes: Map<string, number>;
}

const daySeconds = 86_400;
const batchSize = 200;
/** Maximum number of messages of a place that one search for old messages reads. */
const readSize = 1_000;

/**
 * Whether a message `m` was stored before now. The time of others was stored while the clock of the database was ahead:
 * they are deleted a retention after it, and later messages do not wait for them.
 */
const isPast = sql.fragment`m.sent_at <= clock_timestamp()`;

/** The oldest message of each channel, and of direct messages (null). */
const oldestRow = z.object({ realm_id: z.number(), channel_id: z.number().nullable(), age: z.number() });
interface Place extends z.infer<typeof oldestRow> {
  readsOn: boolean;
}
const messageRow = z.object({ id: z.number(), topic: z.string(), recipient_ids: z.array(z.number()).nullable() });

/**
 * Deletes messages older than the retention of their realm or channel, in batches, each with its events. An index
 * look-up per channel finds the candidates, however many messages there are.
 */
export async function applyRetention(
  retention: Retention,
  isStopped: () => boolean,
  onError: (error: unknown, place: Place) => void,
): Promise<void> {
  const oldest = await retention.database.any(sql.type(oldestRow)`
    WITH RECURSIVE place (realm_id, channel_id) AS (
      (SELECT realm_id, channel_id FROM messaging.message WHERE channel_id IS NOT NULL ORDER BY realm_id, channel_id LIMIT 1)
      UNION ALL
      SELECT n.realm_id, n.channel_id FROM place p CROSS JOIN LATERAL (
        SELECT m.realm_id, m.channel_id FROM messaging.message m
        WHERE m.channel_id IS NOT NULL AND (m.realm_id, m.channel_id) > (p.realm_id, p.channel_id)
        ORDER BY m.realm_id, m.channel_id LIMIT 1) n
    ), direct (realm_id) AS (
      (SELECT realm_id FROM messaging.message WHERE channel_id IS NULL ORDER BY realm_id LIMIT 1)
      UNION ALL
      SELECT n.realm_id FROM direct d CROSS JOIN LATERAL (
        SELECT m.realm_id FROM messaging.message m WHERE m.channel_id IS NULL AND m.realm_id > d.realm_id
        ORDER BY m.realm_id LIMIT 1) n
    ), oldest (realm_id, channel_id, sent_at) AS (
      SELECT p.realm_id, p.channel_id, o.sent_at FROM place p CROSS JOIN LATERAL (
        SELECT m.sent_at FROM messaging.message m
        WHERE m.realm_id = p.realm_id AND m.channel_id = p.channel_id AND ${isPast} ORDER BY m.id LIMIT 1) o
      UNION ALL
      SELECT d.realm_id, NULL, o.sent_at FROM direct d CROSS JOIN LATERAL (
        SELECT m.sent_at FROM messaging.message m
        WHERE m.realm_id = d.realm_id AND m.channel_id IS NULL AND ${isPast} ORDER BY m.id LIMIT 1) o
    )
    SELECT realm_id, channel_id, extract(epoch FROM clock_timestamp() - sent_at)::float8 AS age FROM oldest`);
  const readsOn = retention.readsOn();
  const old = oldest.filter(({ age }) => readsOn || age > daySeconds).map((place) => ({ ...place, readsOn }));
  const places = [...Map.groupBy(old, ({ realm_id }) => realm_id).values()];
  const failed = (error: unknown, [place]: Place[]): void => {
    if (place) onError(error, place);
  };
  await forEachApart(places, { isStopped, onError: failed }, (ofRealm) => clearSome(retention, ofRealm, onError));
}

/** Clears a part of the first of these places, and removes it from them when nothing is left. */
async function clearSome(
  retention: Retention,
  places: Place[],
  onError: (error: unknown, place: Place) => void,
): Promise<'more' | undefined> {
  const [place] = places;
  if (!place) return undefined;
  const { sizes } = retention;
  const key = `${place.realm_id} ${place.channel_id}`;
  const size = Math.min(sizes.get(key) ?? batchSize, batchSize);
  try {
    const isMore = await clearPartOf(retention, place, size);
    if (size < batchSize) sizes.set(key, 2 * size);
    else sizes.delete(key);
    if (isMore) return 'more';
  } catch (error) {
    // The next round tries fewer: messages whose batch takes too long would otherwise never be deleted.
    sizes.set(key, Math.max(1, size >> 2));
    onError(error, place);
  }
  places.shift();
  return places.length > 0 ? 'more' : undefined;
}

/** Returns whether there may be more to delete. */
async function clearPartOf(
  { database, background, channels, policies }: Retention,
  place: Place,
  size: number,
): Promise<boolean> {
  const { realm_id: realmId, channel_id: channelId } = place;
  const meta: RequestMeta = { requestId: 'retention', realmId, client: 'Internal' };
  const policy = await policies.get(meta, true);
  const channel = channelId === null ? undefined : await channels.get(channelId, meta, true);
  const days = channel?.message_retention_days ?? policy.settings.message_retention_days;
  if (days < 1 || (!place.readsOn && place.age < days * daySeconds)) return false;
  const where = channelId === null ? sql.fragment`m.channel_id IS NULL` : sql.fragment`m.channel_id = ${channelId}`;
  const here = sql.fragment`m.realm_id = ${realmId} AND ${where}`;
  const limit = sql.fragment`clock_timestamp() - make_interval(days => ${days})`;
  // Ids are ordered by time, except for times of a wrong clock: the oldest come first.
  const earliest = sql.fragment`
    SELECT m.id, m.sent_at FROM messaging.message m WHERE ${here} AND ${isPast} ORDER BY m.id LIMIT ${readSize}`;
  const old = await database.any(sql.type(messageRow.pick({ id: true }))`
    SELECT f.id FROM (${earliest}) f WHERE f.sent_at < ${limit} LIMIT ${size}`);
  if (old.length === 0) return false;
  const oldIds = sql.array(
    old.map(({ id }) => id),
    'int8',
  );
  const expected = { ...realmVersions(policy), ...(channel ? channelVersions(channel) : {}) };
  try {
    const removed = await background(realmId, async (work) => {
      work.expectVersions(expected);
      // A message that another process deletes, moves or edits is left to the next round.
      const rows = await work.any(sql.type(messageRow)`
        SELECT m.id, m.topic, m.recipient_ids FROM messaging.message m
        WHERE ${here} AND m.sent_at < ${limit} AND m.id = ANY(${oldIds}) ORDER BY m.id FOR UPDATE SKIP LOCKED`);
      await lockFilesOf(
        work,
        rows.map(({ id }) => id),
      );
      for (const group of conversations(rows)) {
        const [first] = group;
        if (!first) continue;
        const ids = group.map(({ id }) => id);
        const { recipient_ids } = first;
        const conversation = channel ? { channel, recipient_ids } : { recipient_ids };
        // Changes of many users would make the unit fail again and again. A new guest may learn that a message is deleted.
        const audience = await audienceOf(work, conversation, ids, { comparesRoles: false });
        const from = channelId === null ? undefined : { channelId, topic: first.topic };
        await removeMessages(work, from, ids, audience);
      }
      return rows.length;
    });
    return removed === size;
  } catch (error) {
    // The policy was changed, or messages were deleted or moved, meanwhile: the next round decides again.
    if (error instanceof VersionsChanged) return false;
    throw error;
  }
}

/** Groups messages that one event can name: of one topic, or of the same participants. */
function conversations(rows: readonly z.infer<typeof messageRow>[]): z.infer<typeof messageRow>[][] {
  const groups = new Map<string, z.infer<typeof messageRow>[]>();
  for (const row of rows) {
    const key = row.recipient_ids === null ? row.topic : row.recipient_ids.join();
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
}
