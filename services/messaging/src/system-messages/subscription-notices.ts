import type { LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { placeLink } from '../model/names-in-notices.ts';
import { queueNotice } from '../model/notice.ts';
import { mentionOf } from './mentioned.ts';
import { mayTell } from './notice-allowance.ts';

/** Notifies users whom another user subscribed, once for all channels. */
export async function subscribedByOthers(work: Work, { note }: LogEvent<'subscription/add'>): Promise<void> {
  if (!note || note.by === null || note.told.length === 0) return;
  const count = note.told.reduce((sum, { user_ids }) => sum + user_ids.length, 0);
  if (!(await mayTell(work, note.by, count))) return;
  const who = await mentionOf(work, work.realmId, note.by);
  for (const { user_ids, names } of note.told) {
    const links = names.map((name) => placeLink(name));
    const content =
      links.length === 1
        ? `${who} subscribed you to the channel ${links[0]}.`
        : `${who} subscribed you to the following channels:\n\n${links.map((link) => `* ${link}`).join('\n')}`;
    await queueNotice(work, { from: 'Notification Bot', to: { each: user_ids }, content });
  }
}
