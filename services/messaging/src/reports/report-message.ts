import { badRequest, limits, messageChangeOperations } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Handlers, handle, type Owner, type RealmPolicies, realmBasis } from '@natter/service-kit';
import { z } from 'zod';
import type { MessageReach, ReadableMessage } from '../message-reach.ts';
import { queueNotice } from '../scheduling/notice.ts';

const reasons: Record<string, string> = {
  spam: 'Spam',
  harassment: 'Harassment',
  inappropriate: 'Inappropriate content',
  norms: 'Violates community norms',
  other: 'Other reason',
};
const maxDescription = 1_000;
const nameRow = z.object({ full_name: z.string() });

interface Sources {
  messages: MessageReach;
  policies: RealmPolicies;
  hint: (dueSeconds: number) => void;
}

/** Tells the moderators of a message, in the channel that the realm has for it. */
export function reportHandlers({ database, unitOfWork }: Owner, { messages, policies, hint }: Sources): Handlers {
  return [
    handle(messageChangeOperations.reportMessage, async (context, params) => {
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
        if (channelId < 0)
          throw badRequest('Moderation request channel must be specified to enable message reporting.');
        return { channelId, policy };
      };
      const { channelId, policy } = await channelOf(context.attempt > 0).catch(() => channelOf(true));
      const content = contentOf({
        reporter: `@_**${await nameOf(database, actor.realmId, actor.userId)}|${actor.userId}**`,
        reported: `@_**${message.sender_name}|${message.sender_id}**`,
        message,
        reason: reasons[params.report_type] ?? params.report_type,
        description,
      });
      const topic = `${[...message.sender_name].slice(0, limits.topicLength - 22).join('')}'s moderation requests`;
      const answer = await unitOfWork(
        { realmId: actor.realmId, schema: 'messaging', claim: context.claim },
        async (work) => {
          work.restOn({ ...actor.basis, ...realmBasis(policy) });
          await queueNotice(work, {
            from: 'Notification Bot',
            to: { channelId, topic },
            content,
          });
          return {};
        },
      );
      hint(Date.now() / 1000);
      return answer;
    }),
  ];
}

interface Report {
  reporter: string;
  reported: string;
  message: ReadableMessage;
  reason: string;
  description: string;
}

/** What was said is quoted, for it may be gone when the moderators come. */
function contentOf({ reporter, reported, message, reason, description }: Report): string {
  const where = message.channel
    ? message.topic === ''
      ? `in #**${message.channel.name}**`
      : `in #**${message.channel.name}>${message.topic}@${message.id}**`
    : 'in a direct message';
  const notes = description === '' ? '' : `\n- Notes:\n${quoted(description)}`;
  const head = `${reporter} reported a message of ${reported} ${where}.\n- Reason: **${reason}**${notes}\n\n`;
  const room = limits.messageLength - [...head].length - 200;
  const shown = [...message.content].slice(0, Math.max(room, 0)).join('');
  return `${head}${quoted(shown)}`;
}

/** In a fence that is longer than any in the text. */
function quoted(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}quote\n${text}\n${fence}`;
}

async function nameOf(executor: Executor, realmId: number, userId: number): Promise<string> {
  const row = await executor.maybeOne(sql.type(nameRow)`
    SELECT full_name FROM messaging.person WHERE realm_id = ${realmId} AND user_id = ${userId}`);
  return row?.full_name ?? '';
}
