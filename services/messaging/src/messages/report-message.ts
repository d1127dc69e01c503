import { badRequest, limits, messageChangeOperations, refusedAs } from '@natter/contracts';
import { type RealmPolicies, realmVersions } from '@natter/realm-policy';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { channelVersions } from '../model/channel-access.ts';
import type { ChannelCache } from '../model/channel-cache.ts';
import { decideOnCurrent } from '../model/decide-on-current.ts';
import type { MessageAccess, ReadableMessage } from '../model/message-access.ts';
import { holdMessage } from '../model/message-audience.ts';
import { queueNotice } from '../model/notice.ts';
import { type NoticeText, notice, placeLink, plain, quoteBlock, userMention } from '../model/notice-text.ts';
import { nameOf } from '../model/people.ts';
import { dueNow } from '../model/scheduler-hint.ts';
import { countReport } from './report-allowance.ts';

const reasons: Record<string, string> = {
  spam: 'Spam',
  harassment: 'Harassment',
  inappropriate: 'Inappropriate content',
  norms: 'Violates community norms',
  other: 'Other reason',
};
const maxDescription = 1_000;

interface Sources {
  channels: ChannelCache;
  messages: MessageAccess;
  policies: RealmPolicies;
  hint: (dueSeconds: number) => void;
}

/** Reports a message to the moderators, in the realm's channel for reports. */
export function reportHandlers({ database }: Owner, { channels, messages, policies, hint }: Sources): Handlers {
  return [
    handleWrite(messageChangeOperations.reportMessage, async (context, params) => {
      const { actor, meta } = context;
      const description = params.description?.trim() ?? '';
      if ([...description].length > maxDescription)
        throw badRequest(`description is too long (limit: ${maxDescription} characters)`);
      if (params.report_type === 'other' && description === '')
        throw badRequest('For reports of type "other" a description is required.');
      const message = await messages.readable(database, actor, meta, params.message_id);
      const channelOf = async (fresh: boolean) => {
        const policy = await policies.get(meta, fresh);
        const channelId = policy.settings.moderation_request_channel_id;
        if (channelId < 0) throw notEnabled();
        const channel = await channels.get(channelId, meta, fresh).catch(refusedAs(notEnabled));
        // The report could not be sent there.
        if (channel.is_archived) throw notEnabled();
        return { channelId, versions: { ...realmVersions(policy), ...channelVersions(channel) } };
      };
      const { channelId, versions } = await decideOnCurrent(context, channelOf);
      const content = contentOf({
        reporter: userMention((await nameOf(database, actor.realmId, actor.userId)) ?? '', actor.userId),
        reported: userMention(message.sender_name, message.sender_id),
        message,
        reason: reasons[params.report_type] ?? params.report_type,
        description,
      });
      const topic = `${[...message.sender_name].slice(0, limits.topicLength - 22).join('')}'s moderation requests`;
      const answer = await context.write(async (work) => {
        work.expectVersions(versions);
        await holdMessage(work, message);
        await countReport(work, actor.botOwnerId ?? actor.userId);
        await queueNotice(work, {
          from: 'Notification Bot',
          to: { channelId, topic },
          content,
        });
        return {};
      });
      hint(dueNow);
      return answer;
    }),
  ];
}

const notEnabled = () => badRequest('Moderation request channel must be specified to enable message reporting.');

interface Report {
  reporter: NoticeText;
  reported: NoticeText;
  message: ReadableMessage;
  reason: string;
  description: string;
}

/** The content is quoted, because it may be deleted before the moderators see it. */
function contentOf({ reporter, reported, message, reason, description }: Report): NoticeText {
  const where = message.channel
    ? message.topic === ''
      ? notice`in ${placeLink(message.channel)}`
      : notice`in ${placeLink(message.channel, message.topic, message.id)}`
    : notice`in a direct message`;
  const notes = description === '' ? notice`` : notice`\n- Notes:\n${quoteBlock(description)}`;
  const head = notice`${reporter} reported a message of ${reported} ${where}.\n- Reason: **${plain(reason)}**${notes}\n\n`;
  const room = limits.messageLength - [...head.markdown].length - 200;
  const shown = [...message.content].slice(0, Math.max(room, 0)).join('');
  return notice`${head}${quoteBlock(shown)}`;
}
