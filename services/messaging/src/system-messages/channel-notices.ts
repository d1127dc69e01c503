import type { ChannelObject, LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { queueNotice } from '../model/notice.ts';
import { joined, type NoticeText, notice, placeLink } from '../model/notice-text.ts';
import { changeText, kindOf, quotedDescription } from './channel-change.ts';
import { mentionOf } from './mentioned.ts';
import { noticeSettings } from './notice-settings.ts';

const eventsTopic = 'channel events';
const announcementsTopic = 'new channels';

/** Adds a notice about its creator to a new channel, and announces the channel where the realm's settings say. */
export async function channelsCreated(work: Work, { body, note: created }: LogEvent<'stream/create'>): Promise<void> {
  if (!created) return;
  const channels = body.streams;
  const settings = await noticeSettings(work, work.realmId);
  const creator = await mentionOf(work, work.realmId, created.creator_id);
  for (const channel of channels)
    if (settings.send_channel_events_messages)
      await queueNotice(work, {
        from: 'Notification Bot',
        to: { channelId: channel.stream_id, topic: topicIn(channel) },
        content: creationText(channel, creator),
        readBy: created.creator_id,
      });
  const open = channels.filter((channel) => !channel.invite_only);
  const announceIn = settings.new_stream_announcements_stream_id;
  if (!created.announce || open.length === 0 || announceIn < 0) return;
  const names = open.map(({ stream_id, name }) => placeLink({ channel_id: stream_id, name }));
  const text =
    names.length === 1
      ? notice`${creator} created a new channel ${joined(names, ', ')}.`
      : notice`${creator} created the following channels: ${joined(names, ', ')}.`;
  const to = { channelId: announceIn, topic: announcementsTopic };
  await queueNotice(work, { from: 'Notification Bot', to, content: text, readBy: created.creator_id });
}

function creationText(channel: ChannelObject, creator: NoticeText): NoticeText {
  const quoted = quotedDescription(channel.description);
  const description = channel.description === '' ? quoted : notice`\n${quoted}`;
  return notice`**${kindOf(channel)}** channel created by ${creator}. **Description:** ${description}`;
}

/** Adds a notice about a change to the channel, also to an archived one. */
export async function channelChanged(work: Work, { body, note }: LogEvent<'stream/update'>): Promise<void> {
  if (!note || !(await noticeSettings(work, work.realmId)).send_channel_events_messages) return;
  const who = await mentionOf(work, work.realmId, note.by);
  const content = await changeText(work, work.realmId, { body, note, who });
  if (content === undefined) return;
  const to = { channelId: body.stream_id, topic: eventsTopic };
  await queueNotice(work, { from: 'Notification Bot', to, content });
}

const topicIn = ({ topics_policy }: ChannelObject): string => (topics_policy === 'empty_topic_only' ? '' : eventsTopic);
