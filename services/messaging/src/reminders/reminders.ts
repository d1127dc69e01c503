import { badRequest, limits, missing, scheduledMessageOperations, unknownUser } from '@natter/contracts';
import { sql, VersionsChanged } from '@natter/database';
import { type RealmPolicies, realmVersions, type UserVisibility } from '@natter/realm-policy';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import type { Authors } from '../model/authors.ts';
import { destinationOf } from '../model/destination-of.ts';
import type { MessageAccess, ReadableMessage } from '../model/message-access.ts';
import { holdMessage } from '../model/message-audience.ts';
import { botOf } from '../model/notice.ts';
import {
  addressLink,
  type NoticeText,
  notice,
  placeLink,
  quoteBlock,
  quotedLines,
  strong,
  userMention,
} from '../model/notice-text.ts';
import {
  deleteOwn,
  pendingOf,
  requireFuture,
  requireScheduledRoom,
  scheduledColumns,
  scheduledRow,
  storedEvent,
  toReminder,
} from '../model/scheduled-row.ts';
import type { DecideSend, Sendable } from '../model/sending/decide-planned.ts';

interface Sources {
  authors: Authors;
  decideSend: DecideSend;
  access: MessageAccess;
  policies: RealmPolicies;
  userVisibility: UserVisibility;
  hint: (dueSeconds: number) => void;
}

/** Reminders: direct messages of the notification bot to their owner, at a given time. */
export function reminderHandlers({ database }: Owner, sources: Sources): Handlers {
  return [
    handle(scheduledMessageOperations.getReminders, async ({ actor }) => ({
      reminders: (await pendingOf(database, actor.realmId, actor.userId, 'reminder')).map(toReminder),
    })),

    handleWrite(scheduledMessageOperations.createReminder, async (context, params) => {
      const { actor, meta } = context;
      const note = params.note?.trim() ?? '';
      if ([...note].length > limits.reminderNoteLength)
        throw badRequest(`Maximum reminder note length: ${limits.reminderNoteLength} characters`);
      const message = await sources.access.readable(database, actor, meta, params.message_id);
      await requireFuture(database, params.scheduled_delivery_timestamp);
      const botId = await botOf(database, actor.realmId, 'Notification Bot');
      if (botId === undefined) throw new VersionsChanged('the notification bot in the copy of bots', 'row');
      const bot = await sources.authors.get(meta, botId, context.attempt > 0);
      const policy = await sources.policies.get(meta, context.attempt > 0);
      const isHidden = (await sources.userVisibility.hiddenFrom(actor, meta, policy)).has(message.sender_id);
      const sender = isHidden
        ? strong(unknownUser(message.sender_id, policy.host).full_name)
        : userMention(message.sender_name, message.sender_id);
      const sendable: Sendable = {
        type: 'direct',
        to: [actor.userId],
        topic: undefined,
        content: contentOf(message, sender, note).markdown,
        read_by_sender: false,
        seenBy: actor,
      };
      const decided = await sources.decideSend(bot, meta, sendable, context.attempt > 0);
      const destination = destinationOf(decided);
      const answer = await context.write(async (work) => {
        work.expectVersions({ ...decided.expected, ...realmVersions(policy) });
        await holdMessage(work, message);
        const row = await work.one(sql.type(scheduledRow)`
          INSERT INTO messaging.scheduled_message (realm_id, user_id, sender_id, kind, recipient_ids, content, rendered_content, due_at, client, reminder_target_id)
          VALUES (${actor.realmId}, ${actor.userId}, ${botId}, 'reminder', ${sql.array(destination.recipientIds ?? [], 'int4')}, ${destination.content},
            ${destination.rendered}, to_timestamp(${params.scheduled_delivery_timestamp}), ${meta.client}, ${params.message_id})
          RETURNING ${scheduledColumns}`);
        await requireScheduledRoom(work, actor.userId, 'reminder');
        work.emit(storedEvent('add', row));
        return { reminder_id: row.id };
      });
      sources.hint(params.scheduled_delivery_timestamp);
      return answer;
    }),

    handleWrite(scheduledMessageOperations.deleteReminder, async (context, params) => {
      const { actor } = context;
      return context.write(async (work) => {
        if (!(await deleteOwn(work, actor, 'reminder', params.reminder_id))) throw missing('Reminder does not exist');
        return {};
      });
    }),
  ];
}

function contentOf(message: ReadableMessage, sender: NoticeText, note: string): NoticeText {
  const about =
    message.channel === undefined
      ? addressLink(
          notice`a direct message`,
          `#narrow/dm/${(message.recipient_ids ?? []).join(',')}-dm/near/${message.id}`,
        )
      : placeLink(message.channel, message.topic, message.id);
  const noted = note === '' ? notice`` : notice` Note:\n\n${quotedLines(note)}`;
  const head = notice`You requested a reminder for ${about}.${noted}`;
  const whole = notice`${head}\n\n${sender} said:\n${quoteBlock(message.content)}`;
  return [...whole.markdown].length <= limits.messageLength ? whole : head;
}
