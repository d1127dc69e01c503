import type { LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { z } from 'zod';
import { queueNotice } from '../scheduling/notice.ts';
import { mentionOf, quoted } from './mentioned.ts';
import { noticeSettings } from './notice-settings.ts';

const eventsTopic = 'channel events';
const announcementsTopic = 'new channels';

const createdNote = z.object({
  is_new: z.literal(true),
  announce: z.boolean().default(false),
  creator_id: z.number(),
  channel_ids: z.array(z.number()),
});
const channelSchema = z.object({
  stream_id: z.number(),
  name: z.string(),
  description: z.string(),
  invite_only: z.boolean(),
  is_web_public: z.boolean(),
  history_public_to_subscribers: z.boolean(),
  topics_policy: z.string().optional(),
});
type Channel = z.infer<typeof channelSchema>;

/** A new channel starts with a note of who made it, and is announced where the realm wants it. */
export async function channelsCreated(work: Work, { body, note }: LogEvent): Promise<void> {
  const created = createdNote.safeParse(note);
  if (!created.success) return;
  const channels = z.array(channelSchema).parse(body.streams);
  const settings = await noticeSettings(work, work.realmId);
  const creator = await mentionOf(work, work.realmId, created.data.creator_id);
  for (const channel of channels)
    if (settings.send_channel_events_messages)
      await say(work, channel.stream_id, topicIn(channel), creationText(channel, creator));
  const open = channels.filter((channel) => !channel.invite_only);
  const announceIn = settings.new_stream_announcements_stream_id;
  if (!created.data.announce || open.length === 0 || announceIn < 0) return;
  const names = open.map(({ name }) => `#**${name}**`);
  const text =
    names.length === 1
      ? `${creator} created a new channel ${names[0]}.`
      : `${creator} created the following channels: ${names.join(', ')}.`;
  await say(work, announceIn, announcementsTopic, text);
}

function creationText(channel: Channel, creator: string): string {
  const description = channel.description === '' ? '*No description.*' : `\n${quoted(channel.description)}`;
  return `**${kindOf(channel)}** channel created by ${creator}. **Description:** ${description}`;
}

function kindOf(channel: Pick<Channel, 'invite_only' | 'is_web_public' | 'history_public_to_subscribers'>): string {
  if (channel.is_web_public) return 'Web-public';
  if (!channel.invite_only) return 'Public';
  return channel.history_public_to_subscribers ? 'Private, shared history' : 'Private, protected history';
}

const updatedSchema = z.object({
  stream_id: z.number(),
  name: z.string(),
  property: z.string(),
  value: z.unknown(),
  history_public_to_subscribers: z.boolean().default(false),
  is_web_public: z.boolean().default(false),
});
const byNote = z.object({ by: z.number(), before: z.unknown() });

/** Changes that readers of a channel should know of are noted in it. */
export async function channelChanged(work: Work, { body, note }: LogEvent): Promise<void> {
  const by = byNote.safeParse(note);
  const updated = updatedSchema.safeParse(body);
  if (!by.success || !updated.success) return;
  const { stream_id, property, value, name } = updated.data;
  if (!(await noticeSettings(work, work.realmId)).send_channel_events_messages) return;
  const who = await mentionOf(work, work.realmId, by.data.by);
  const before = by.data.before;
  if (property === 'name')
    return say(work, stream_id, eventsTopic, `${who} renamed channel **${name}** to **${value}**.`);
  if (property === 'description') {
    const [old, new_] = [String(before ?? ''), String(value)].map((text) =>
      text === '' ? '*No description.*' : quoted(text),
    );
    return say(
      work,
      stream_id,
      eventsTopic,
      `${who} changed the description for this channel.\n\n* **Old description:**\n${old}\n* **New description:**\n${new_}`,
    );
  }
  if (property === 'invite_only') {
    const kind = kindOf({ ...updated.data, invite_only: value === true });
    return say(work, stream_id, eventsTopic, `${who} changed the access permissions for this channel to **${kind}**.`);
  }
}

const say = (work: Work, channelId: number, topic: string, content: string): Promise<void> =>
  queueNotice(work, { from: 'Notification Bot', to: { channelId, topic }, content });

const topicIn = ({ topics_policy }: Channel): string => (topics_policy === 'empty_topic_only' ? '' : eventsTopic);
