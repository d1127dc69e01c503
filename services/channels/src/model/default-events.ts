import { type Executor, lock, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { to } from './audience.ts';
import type { Directory } from './directory/directory.ts';

export async function defaultChannels(executor: Executor, realmId: number): Promise<number[]> {
  const rows = await executor.any(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM channels.channel WHERE realm_id = ${realmId} AND is_default AND NOT is_archived ORDER BY id`);
  return rows.map(({ id }) => id);
}

const groupRow = z.object({ id: z.number(), name: z.string(), description: z.string(), streams: z.array(z.number()) });

export const defaultGroups = (executor: Executor, realmId: number): Promise<z.infer<typeof groupRow>[]> =>
  executor.any(sql.type(groupRow)`
    SELECT g.id, g.name, g.description, ARRAY(SELECT channel_id FROM channels.default_group_channel WHERE group_id = g.id ORDER BY channel_id) AS streams
    FROM channels.default_group g WHERE g.realm_id = ${realmId} ORDER BY g.name`);

export type DefaultList = 'channels' | 'groups';

/**
 * Emits complete lists of defaults that the unit changed to all users except guests. Serialized, so that the last
 * announced list is the final one. Call it after the unit has locked all rows that another unit may lock: that one may
 * wait for this lock while it holds them.
 */
export async function announceDefaults(
  { work, directory }: { work: Work; directory: Directory },
  changed: readonly DefaultList[],
): Promise<void> {
  if (changed.length === 0) return;
  await lock(work, 'default-channels');
  const audience = to(directory.nonGuests());
  if (changed.includes('channels')) {
    const default_streams = await defaultChannels(work, work.realmId);
    work.emit({ type: 'default_streams', body: { default_streams }, audience });
  }
  if (changed.includes('groups')) {
    const default_stream_groups = await defaultGroups(work, work.realmId);
    work.emit({ type: 'default_stream_groups', body: { default_stream_groups }, audience });
  }
}

/**
 * Guests see no default channels; emits the change to a user who becomes a guest, or ceases to be one. The unit holds
 * the directory alone, so no other unit changes the lists.
 */
export async function announceDefaultsTo(work: Work, userId: number, was: boolean, is: boolean): Promise<void> {
  if (was === is) return;
  const default_streams = await defaultChannels(work, work.realmId);
  const default_stream_groups = await defaultGroups(work, work.realmId);
  const audience = to([userId]);
  if (default_streams.length > 0)
    work.emit({ type: 'default_streams', body: { default_streams: is ? default_streams : [] }, audience });
  if (default_stream_groups.length > 0)
    work.emit({
      type: 'default_stream_groups',
      body: { default_stream_groups: is ? default_stream_groups : [] },
      audience,
    });
}
