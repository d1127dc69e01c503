import type { LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { z } from 'zod';
import { queueNotice } from '../scheduling/notice.ts';
import { mentionOf } from './mentioned.ts';

const joinedNote = z.object({ by: z.number(), notify: z.array(z.number()), user_ids: z.array(z.number()) });

/** Who was subscribed by somebody else is told who did it. */
export async function subscribedByOthers(work: Work, { body, note }: LogEvent): Promise<void> {
  const joined = joinedNote.safeParse(note);
  if (!joined.success) return;
  const told = joined.data.notify.filter((id) => joined.data.user_ids.includes(id));
  if (told.length === 0) return;
  const names = z
    .array(z.object({ name: z.string() }))
    .parse(body.subscriptions)
    .map(({ name }) => `#**${name}**`);
  const who = await mentionOf(work, work.realmId, joined.data.by);
  const content =
    names.length === 1
      ? `${who} subscribed you to the channel ${names[0]}.`
      : `${who} subscribed you to the following channels:\n\n${names.map((name) => `* ${name}`).join('\n')}`;
  for (const userId of told) await queueNotice(work, { from: 'Notification Bot', to: { userIds: [userId] }, content });
}
