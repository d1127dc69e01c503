import { type Actor, badRequest } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Holder, hasMetadataAccess } from '@natter/permissions';
import { heapBytes } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type ChannelRow, channelColumns, channelRow } from './channel-row.ts';
import { type Personal, personalColumns } from './personal.ts';

const standingRow = z.object({
  id: z.number(),
  version: z.string(),
  is_subscribed: z.boolean().nullable(),
  color: z.string().nullable(),
  is_muted: z.boolean().nullable(),
  pin_to_top: z.boolean().nullable(),
  desktop_notifications: z.boolean().nullable(),
  email_notifications: z.boolean().nullable(),
  push_notifications: z.boolean().nullable(),
  audible_notifications: z.boolean().nullable(),
  wildcard_mentions_notify: z.boolean().nullable(),
});
const versionedRow = channelRow.extend({ version: z.string() });

/** A row's version is the transaction that wrote it (xmin), valid until Postgres restarts. */
const version = sql.fragment`(SELECT extract(epoch FROM pg_postmaster_start_time())::text) || ' ' || c.xmin::text AS version`;
/**
 * Cached rows by id and version: most of a list of a thousand channels is unchanged since the previous list. Bounded in
 * bytes, because members choose how many users the permissions of a channel name.
 */
const known = new LRUCache<string, ChannelRow>({
  max: 20_000,
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: (row) => heapBytes(row) + 500,
});

/** A channel that a user can see, and their relation to it; without personal settings they were never subscribed. */
export interface Visible {
  channel: ChannelRow;
  isSubscribed: boolean;
  personal: Personal | undefined;
}

/**
 * All channels that a user can see, by id; without a holder, only web-public ones that are not archived. Reads committed
 * data: do not use it in a transaction that has changed channels.
 */
export async function visibleChannels(
  executor: Executor,
  { realmId, userId }: Pick<Actor, 'realmId' | 'userId'>,
  { holder, withArchived }: { holder: Holder | undefined; withArchived: boolean },
): Promise<Visible[]> {
  const standings = await executor.any(sql.type(standingRow)`
    SELECT c.id, ${version}, s.is_active AS is_subscribed, ${personalColumns} FROM channels.channel c
    LEFT JOIN channels.subscription s ON s.channel_id = c.id AND s.user_id = ${userId}
    WHERE c.realm_id = ${realmId} AND (${withArchived} OR NOT c.is_archived) ORDER BY c.id`);
  const channels = await readChannels(executor, standings);
  return standings.flatMap(({ id, version: _, is_subscribed, color, ...own }): Visible[] => {
    const channel = channels.get(id);
    if (!channel) return [];
    const isSubscribed = is_subscribed === true;
    const isShown = channel.is_web_public && !channel.is_archived;
    const isKnown = holder ? hasMetadataAccess(channel, holder, isSubscribed) : isSubscribed || isShown;
    if (!isKnown) return [];
    if (color === null) return [{ channel, isSubscribed, personal: undefined }];
    const { is_muted, pin_to_top, ...notifications } = own;
    const personal = { color, is_muted: is_muted ?? false, pin_to_top: pin_to_top ?? false, ...notifications };
    return [{ channel, isSubscribed, personal }];
  });
}

/** One of the channels that a user can see, by its name in any case. */
export function channelNamed(visible: readonly Visible[], name: string): ChannelRow {
  const found = visible.find(({ channel }) => channel.name.toLowerCase() === name.trim().toLowerCase());
  if (!found) throw badRequest(`Invalid channel name '${name}'`);
  return found.channel;
}

async function readChannels(
  executor: Executor,
  wanted: readonly { id: number; version: string }[],
): Promise<Map<number, ChannelRow>> {
  const channels = new Map<number, ChannelRow>();
  const missing: number[] = [];
  for (const { id, version } of wanted) {
    const channel = known.get(`${id} ${version}`);
    if (channel) channels.set(id, channel);
    else missing.push(id);
  }
  if (missing.length === 0) return channels;
  const rows = await executor.any(sql.type(versionedRow)`
    SELECT ${channelColumns}, ${version} FROM channels.channel c WHERE c.id = ANY(${sql.array(missing, 'int4')})`);
  for (const { version, ...channel } of rows) {
    known.set(`${channel.id} ${version}`, channel);
    channels.set(channel.id, channel);
  }
  return channels;
}
