import { type Actor, badRequest, missing, type ParamsOf, scheduledMessageOperations } from '@natter/contracts';
import { sql, VersionsChanged, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner, type UserContext } from '@natter/service-kit';
import { decideOnCurrent } from '../model/decide-on-current.ts';
import { type DecidedDestination, destinationOf } from '../model/destination-of.ts';
import {
  deleteOwn,
  notInFuture,
  pendingOf,
  requireFuture,
  requireScheduledRoom,
  type ScheduledRow,
  scheduledColumns,
  scheduledRow,
  storedEvent,
  toScheduledMessage,
} from '../model/scheduled-row.ts';
import type { DecideSend, Sendable } from '../model/sending/decide-planned.ts';
import { isInteractiveClient } from '../model/sending/interactive-client.ts';

type Edit = Omit<ParamsOf<typeof scheduledMessageOperations.editScheduledMessage>, 'scheduled_message_id'>;
type Hint = (dueSeconds: number) => void;

/** Scheduled messages of the caller. They are checked as if they were sent now. */
export function scheduledMessageHandlers({ database }: Owner, decideSend: DecideSend, hint: Hint): Handlers {
  return [
    handle(scheduledMessageOperations.getScheduledMessages, async ({ actor }) => ({
      scheduled_messages: (await pendingOf(database, actor.realmId, actor.userId, 'message')).map(toScheduledMessage),
    })),

    handleWrite(scheduledMessageOperations.createScheduledMessage, async (context, params) => {
      const { actor, meta } = context;
      await requireFuture(database, params.scheduled_delivery_timestamp);
      const message: Sendable = { ...params, type: typeOf(params.type), topic: params.topic };
      const decided = await decideOnCurrent(context, (fresh) => decideSend(actor, meta, message, fresh));
      const destination = destinationOf(decided);
      const isRead = params.read_by_sender ?? (isInteractiveClient(meta.client) && !isToOneself(actor, destination));
      const answer = await context.write(async (work) => {
        work.expectVersions(decided.expected);
        const row = await work.one(sql.type(scheduledRow)`
          INSERT INTO messaging.scheduled_message (realm_id, user_id, sender_id, channel_id, recipient_ids, topic, content, rendered_content, due_at, is_read_by_sender, client, bot_owner_id)
          VALUES (${actor.realmId}, ${actor.userId}, ${actor.userId}, ${destination.channelId}, ${idsOrNull(destination.recipientIds)}, ${destination.topic}, ${destination.content},
            ${destination.rendered}, to_timestamp(${params.scheduled_delivery_timestamp}), ${isRead}, ${meta.client}, ${actor.botOwnerId ?? null})
          RETURNING ${scheduledColumns}`);
        await requireScheduledRoom(work, actor.userId, 'message');
        work.emit(storedEvent('add', row));
        return { scheduled_message_id: row.id };
      });
      hint(params.scheduled_delivery_timestamp);
      return answer;
    }),

    handleWrite(scheduledMessageOperations.editScheduledMessage, async (context, params) => {
      const { actor } = context;
      const { scheduled_message_id, ...changes } = params;
      if (Object.values(changes).every((value) => value === undefined)) throw badRequest('Nothing to change');
      const before = await database.maybeOne(findOwn(actor, scheduled_message_id, false));
      if (!before) throw unknown();
      requireUnsent(before);
      const time = changes.scheduled_delivery_timestamp;
      if (time !== undefined) await requireFuture(database, time);
      else if (before.state === 'failed') throw notInFuture();
      const wanted = edited(before, changes);
      const decided = await decideOnCurrent(context, (fresh) => decideSend(actor, context.meta, wanted, fresh));
      const destination = destinationOf(decided);
      let due = 0;
      const answer = await context.write(async (work) => {
        work.expectVersions(decided.expected);
        const current = await work.maybeOne(findOwn(actor, scheduled_message_id, true));
        if (!current) throw unknown();
        requireUnsent(current);
        if (current.state === 'failed' && time === undefined) throw notInFuture();
        // The message was edited meanwhile, so the decision is outdated.
        if (current.revision !== before.revision) throw new VersionsChanged(`scheduled message ${current.id}`, 'row');
        due = await rewrite(work, { id: current.id, actor, time }, destination);
        return {};
      });
      hint(due);
      return answer;
    }),

    handleWrite(scheduledMessageOperations.deleteScheduledMessage, async (context, params) => {
      const { actor } = context;
      return context.write(async (work) => {
        if (!(await deleteOwn(work, actor, 'message', params.scheduled_message_id))) throw unknown();
        return {};
      });
    }),
  ];
}

const findOwn = (actor: Actor, id: number, isLocked: boolean) => sql.type(scheduledRow)`
  SELECT ${scheduledColumns} FROM messaging.scheduled_message
  WHERE realm_id = ${actor.realmId} AND user_id = ${actor.userId} AND kind = 'message' AND id = ${id} ${isLocked ? sql.fragment`FOR UPDATE` : sql.fragment``}`;

/** Stores a changed message. If a bot changes it, it is scheduled for the bot's present owner. */
async function rewrite(
  work: Work,
  { id, actor, time }: { id: number; actor: Actor; time: number | undefined },
  destination: DecidedDestination,
): Promise<number> {
  const row = await work.one(sql.type(scheduledRow)`
    UPDATE messaging.scheduled_message SET channel_id = ${destination.channelId}, recipient_ids = ${idsOrNull(destination.recipientIds)},
      topic = ${destination.topic}, content = ${destination.content}, rendered_content = ${destination.rendered},
      due_at = coalesce(to_timestamp(${time ?? null}::float8), due_at), state = 'waiting', failure = NULL, revision = revision + 1,
      bot_owner_id = ${actor.botOwnerId ?? null}
    WHERE realm_id = ${work.realmId} AND id = ${id} RETURNING ${scheduledColumns}`);
  await requireScheduledRoom(work, row.user_id, 'message');
  work.emit(storedEvent('update', row));
  return row.due;
}

/** The message after the edit; unspecified values stay unchanged. */
function edited(before: ScheduledRow, { type, to, content, topic }: Edit): Sendable {
  const was = before.channel_id === null ? 'direct' : 'channel';
  const will = type === undefined ? was : typeOf(type);
  if (will !== was && to === undefined) throw badRequest('Recipient required when updating type of scheduled message.');
  if (will !== was && will === 'channel' && topic === undefined)
    throw badRequest('Topic required when updating scheduled message type to channel.');
  return {
    type: will,
    to: to ?? before.channel_id ?? before.recipient_ids ?? [],
    topic: will === 'channel' ? (topic ?? before.topic) : undefined,
    content: content ?? before.content,
    read_by_sender: before.is_read_by_sender,
  };
}

const typeOf = (type: 'direct' | 'private' | 'channel' | 'stream'): 'channel' | 'direct' =>
  type === 'channel' || type === 'stream' ? 'channel' : 'direct';

const isToOneself = (actor: UserContext['actor'], { recipientIds }: DecidedDestination): boolean =>
  recipientIds?.every((id) => id === actor.userId) ?? false;

function requireUnsent(row: ScheduledRow): void {
  if (row.state === 'sent') throw badRequest('Scheduled message was already sent');
}

const idsOrNull = (ids: number[] | null) => (ids === null ? sql.fragment`NULL` : sql.array(ids, 'int4'));
const unknown = () => missing('Scheduled message does not exist');
