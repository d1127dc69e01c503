import type { LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { z } from 'zod';
import { queueNotice } from '../scheduling/notice.ts';
import { mentionOf } from './mentioned.ts';

const joinedNote = z.object({
  by: z.number(),
  told: z.array(z.object({ user_ids: z.array(z.number()), names: z.array(z.string()) })),
});

/** Who was subscribed by somebody else is told who did it, once for all the channels. */
export async function subscribedByOthers(work: Work, { note }: LogEvent): Promise<void> {
  const joined = joinedNote.safeParse(note);
  if (!joined.success || joined.data.told.length === 0) return;
  const who = await mentionOf(work, work.realmId, joined.data.by);
  for (const { user_ids, names } of joined.data.told) {
    const links = names.map((name) => `#**${name}**`);
    const content =
      links.length === 1
        ? `${who} subscribed you to the channel ${links[0]}.`
        : `${who} subscribed you to the following channels:\n\n${links.map((link) => `* ${link}`).join('\n')}`;
    for (const userId of user_ids)
      await queueNotice(work, { from: 'Notification Bot', to: { userIds: [userId] }, content });
  }
}
