import { roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { subscribersOf } from '../channel-events.ts';
import { channelColumns, channelRow } from '../channel-row.ts';
import type { Directory, Person } from '../directory/directory.ts';
import { join } from './join.ts';

/**
 * What the users service may say of a newcomer: whether their invitation gives them the default channels, and to which
 * channels it subscribes them besides.
 */
const newcomerNote = z.object({
  default_channels: z.boolean().optional(),
  channel_ids: z.array(z.number()).default([]),
  invited_by: z.number().nullish(),
});

/** Default channels are for people; guests get them only where they were invited to them. */
export async function subscribeNewcomer(
  work: Work,
  directory: Directory,
  person: Person,
  note: Record<string, unknown>,
): Promise<void> {
  if (person.isBot || !person.isActive) return;
  const wishes = newcomerNote.parse(note);
  const wantsDefaults = wishes.default_channels ?? person.role !== roles.guest;
  const channels = await work.any(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c
    WHERE c.realm_id = ${work.realmId} AND NOT c.is_archived
      AND (c.id = ANY(${sql.array(wishes.channel_ids, 'int4')}) OR (${wantsDefaults} AND c.is_default))
    ORDER BY c.id FOR UPDATE`);
  if (channels.length === 0) return;
  const subscribers = await subscribersOf(
    work,
    channels.map(({ id }) => id),
  );
  const joinings = channels.map((channel) => ({
    channel,
    subscribers: subscribers.get(channel.id) ?? new Set<number>(),
    added: subscribers.get(channel.id)?.has(person.userId) ? [] : [person.userId],
  }));
  await join(work, directory, joinings, { by: wishes.invited_by ?? null, notify: [] });
}
