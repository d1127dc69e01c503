import type { ChannelObject, LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { placeLink, strong } from '../model/names-in-notices.ts';
import { queueNotice } from '../model/notice.ts';
import { quoteBlock } from '../model/quote-block.ts';
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
  const names = open.map(({ name }) => placeLink(name));
  const text =
    names.length === 1
      ? `${creator} created a new channel ${names[0]}.`
      : `${creator} created the following channels: ${names.join(', ')}.`;
  const to = { channelId: announceIn, topic: announcementsTopic };
  await queueNotice(work, { from: 'Notification Bot', to, content: text, readBy: created.creator_id });
}

function creationText(channel: ChannelObject, creator: string): string {
  const description = channel.description === '' ? '*No description.*' : `\n${quoteBlock(channel.description)}`;
  return `**${kindOf(channel)}** channel created by ${creator}. **Description:** ${description}`;
}

function kindOf(
  channel: Pick<ChannelObject, 'invite_only' | 'is_web_public' | 'history_public_to_subscribers'>,
): string {
  if (channel.is_web_public) return 'Web-public';
  if (!channel.invite_only) return 'Public';
  return channel.history_public_to_subscribers ? 'Private, shared history' : 'Private, protected history';
}

/** Adds notices about changes to the channel. */
export async function channelChanged(work: Work, { body, note }: LogEvent<'stream/update'>): Promise<void> {
  if (!note) return;
  const { stream_id, name } = body;
  if (!(await noticeSettings(work, work.realmId)).send_channel_events_messages) return;
  const who = await mentionOf(work, work.realmId, note.by);
  if (body.property === 'name')
    return say(work, stream_id, eventsTopic, `${who} renamed channel ${strong(name)} to ${strong(body.value)}.`);
  if (body.property === 'description') {
    const [old, new_] = [typeof note.before === 'string' ? note.before : '', body.value].map((text) =>
      text === '' ? '*No description.*' : quoteBlock(text),
    );
    return say(
      work,
      stream_id,
      eventsTopic,
      `${who} changed the description for this channel.\n\n* **Old description:**\n${old}\n* **New description:**\n${new_}`,
    );
  }
  if (body.property === 'invite_only') {
    const kind = kindOf({ ...body, invite_only: body.value });
    return say(work, stream_id, eventsTopic, `${who} changed the access permissions for this channel to **${kind}**.`);
  }
}

const say = (work: Work, channelId: number, topic: string, content: string): Promise<void> =>
  queueNotice(work, { from: 'Notification Bot', to: { channelId, topic }, content });

const topicIn = ({ topics_policy }: ChannelObject): string => (topics_policy === 'empty_topic_only' ? '' : eventsTopic);
