import type { LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { queueNotice } from '../model/notice.ts';
import { authored, notice, userMention } from '../model/notice-text.ts';
import { noticeSettings } from './notice-settings.ts';

const signupsTopic = 'signups';
const welcome = notice`Hello, and welcome! 👋

This is a direct message from me, Welcome Bot. Messages are ordered by channels and topics, so that you can follow each conversation by itself. Send me anything to try it out.`;

/** Welcomes a new user, and notifies the inviter and, if configured, the realm. */
export async function personJoined(work: Work, { body: { person }, note }: LogEvent<'realm_user/add'>): Promise<void> {
  if (person.is_bot || !person.is_active) return;
  const settings = await noticeSettings(work, work.realmId);
  const own = (note?.welcome_message_custom_text ?? settings.welcome_message_custom_text).trim();
  const content = own === '' ? welcome : notice`${welcome}\n\n${authored(own)}`;
  await queueNotice(work, { from: 'Welcome Bot', to: { userIds: [person.user_id] }, content });
  const channelId = settings.signup_announcements_stream_id;
  if (channelId >= 0)
    await queueNotice(work, {
      from: 'Notification Bot',
      to: { channelId, topic: signupsTopic },
      content: notice`${userMention(person.full_name, person.user_id)} joined this organization.`,
    });
  if (note?.notify_inviter && typeof note.invited_by === 'number')
    await queueNotice(work, {
      from: 'Notification Bot',
      to: { userIds: [note.invited_by] },
      content: notice`${userMention(person.full_name, person.user_id)} accepted your invitation to join.`,
    });
}
