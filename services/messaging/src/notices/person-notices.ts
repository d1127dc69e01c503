import type { LogEvent, User } from '@natter/contracts';
import type { Work } from '@natter/database';
import { z } from 'zod';
import { queueNotice } from '../scheduling/notice.ts';
import { noticeSettings } from './notice-settings.ts';

const signupsTopic = 'signups';
const welcome = `Hello, and welcome! 👋

This is a direct message from me, Welcome Bot. Messages are ordered by channels and topics, so that you can follow each conversation by itself. Send me anything to try it out.`;

/** What the users service says of who came with an invitation. A text there goes before the realm's own; '' is none at all. */
const invitedNote = z.object({
  welcome_message_custom_text: z.string().nullish(),
  invited_by: z.number().nullish(),
  notify_inviter: z.boolean().default(false),
});

/** A newcomer is greeted, and the realm told where it wants to be, and whoever invited them. */
export async function personJoined(work: Work, { body, note }: LogEvent): Promise<void> {
  const person = body.person as User;
  if (person.is_bot || !person.is_active) return;
  const settings = await noticeSettings(work, work.realmId);
  const invited = invitedNote.parse(note ?? {});
  const own = (invited.welcome_message_custom_text ?? settings.welcome_message_custom_text).trim();
  const content = own === '' ? welcome : `${welcome}\n\n${own}`;
  await queueNotice(work, { from: 'Welcome Bot', to: { userIds: [person.user_id] }, content });
  const channelId = settings.signup_announcements_stream_id;
  if (channelId >= 0)
    await queueNotice(work, {
      from: 'Notification Bot',
      to: { channelId, topic: signupsTopic },
      content: `@_**${person.full_name}|${person.user_id}** joined this organization.`,
    });
  if (invited.notify_inviter && typeof invited.invited_by === 'number')
    await queueNotice(work, {
      from: 'Notification Bot',
      to: { userIds: [invited.invited_by] },
      content: `@_**${person.full_name}|${person.user_id}** accepted your invitation to join.`,
    });
}
