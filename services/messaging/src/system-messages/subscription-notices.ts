import type { LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { queueNotice } from '../model/notice.ts';
import { joined, notice, placeLink, strong } from '../model/notice-text.ts';
import { mentionOf } from './mentioned.ts';
import { mayNotify } from './notice-allowance.ts';

/** Notifies users whom another user subscribed, once for all channels. */
export async function subscribedByOthers(work: Work, { note }: LogEvent<'subscription/add'>): Promise<void> {
  if (!note || note.by === null || note.told.length === 0) return;
  const count = note.told.reduce((sum, { user_ids }) => sum + user_ids.length, 0);
  if (!(await mayNotify(work, note.by, count))) return;
  const who = await mentionOf(work, work.realmId, note.by);
  const channels = await channelsNamed(work, [...new Set(note.told.flatMap(({ names }) => names))]);
  for (const { user_ids, names } of note.told) {
    const links = names.map((name) => {
      const channel = channels.find((one) => one.name === name);
      // A channel that was renamed meanwhile.
      return channel ? placeLink(channel) : strong(name);
    });
    const content =
      links.length === 1
        ? notice`${who} subscribed you to the channel ${joined(links, ', ')}.`
        : notice`${who} subscribed you to the following channels:\n\n${joined(
            links.map((link) => notice`* ${link}`),
            '\n',
          )}`;
    await queueNotice(work, { from: 'Notification Bot', to: { each: user_ids }, content });
  }
}

const channelRow = z.object({ channel_id: z.number(), name: z.string() });

const channelsNamed = (work: Work, names: readonly string[]) =>
  work.any(sql.type(channelRow)`
    SELECT channel_id, name FROM messaging.channel
    WHERE realm_id = ${work.realmId} AND name = ANY(${sql.array([...names], 'text')}) AND NOT is_archived`);
