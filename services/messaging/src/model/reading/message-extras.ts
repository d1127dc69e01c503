import { emptyTopicDisplayName, type MessageObject, nominalEmail, type UnknownUser } from '@natter/contracts';
import { sql } from '@natter/database';
import { z } from 'zod';
import { isResolveToggle } from '../topic-resolution.ts';
import { type EditRow, editsOf, type HistoryPolicy } from './edit-snapshots.ts';

const reactionRow = z.object({
  message_id: z.number(),
  user_id: z.number(),
  emoji_name: z.string(),
  emoji_code: z.string(),
  reaction_type: z.enum(['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji']),
  email: z.string().nullable(),
  full_name: z.string().nullable(),
});
const submessageRow = z.object({
  id: z.number(),
  message_id: z.number(),
  sender_id: z.number(),
  msg_type: z.string(),
  content: z.string(),
});

type Reaction = MessageObject['reactions'][number];
type Change = NonNullable<MessageObject['edit_history']>[number];

export interface MessageExtras {
  reactions: Reaction[];
  submessages: z.infer<typeof submessageRow>[];
  edit_history?: Change[];
  last_edit_timestamp?: number;
  last_moved_timestamp?: number;
}

/** Statements for data added to messages after they were sent, executed as one. */
export function extrasOf(realmId: number, messageIds: readonly number[]) {
  const ids = sql.array([...messageIds], 'int8');
  return {
    reactions: sql.type(reactionRow)`
      SELECT r.message_id, r.user_id, r.emoji_name, r.emoji_code, r.reaction_type, p.email, p.full_name
      FROM messaging.reaction r LEFT JOIN messaging.person p ON p.realm_id = r.realm_id AND p.user_id = r.user_id
      WHERE r.realm_id = ${realmId} AND r.message_id = ANY(${ids}) ORDER BY r.reacted_at`,
    submessages: sql.type(submessageRow)`
      SELECT id, message_id, sender_id, msg_type, content FROM messaging.submessage
      WHERE realm_id = ${realmId} AND message_id = ANY(${ids}) ORDER BY id`,
    edits: editsOf(realmId, messageIds),
  };
}

export interface ExtraRows {
  reactions: z.infer<typeof reactionRow>[];
  submessages: z.infer<typeof submessageRow>[];
  edits: EditRow[];
}

export interface ExtrasShownAs {
  unknown: ReadonlyMap<number, UnknownUser>;
  allowEmptyTopic: boolean;
  /** Defined only for a reader without an account. */
  spectator: { host: string } | undefined;
}

/** The additional fields of message objects, by message. */
export function messageExtras(
  rows: ExtraRows,
  policy: HistoryPolicy,
  { unknown, allowEmptyTopic, spectator }: ExtrasShownAs,
): (messageId: number) => MessageExtras {
  const reactions = Map.groupBy(rows.reactions, (row) => row.message_id);
  const submessages = Map.groupBy(rows.submessages, (row) => row.message_id);
  const edits = Map.groupBy(rows.edits, (row) => row.message_id);
  return (id) => ({
    reactions: (reactions.get(id) ?? []).map((row) =>
      toReaction({
        ...row,
        ...unknown.get(row.user_id),
        ...(spectator ? { email: nominalEmail(row.user_id, spectator.host) } : {}),
      }),
    ),
    submessages: submessages.get(id) ?? [],
    ...editParts(spectator ? sinceLastChannel(edits.get(id) ?? []) : (edits.get(id) ?? []), policy, allowEmptyTopic),
  });
}

/** Spectators do not see the history of a message from before its last move between channels. */
const sinceLastChannel = (edits: readonly EditRow[]): readonly EditRow[] =>
  edits.slice(edits.findLastIndex((edit) => edit.prev_channel_id !== null) + 1);

const toReaction = ({ user_id, email, full_name, ...emoji }: z.infer<typeof reactionRow>): Reaction => ({
  emoji_name: emoji.emoji_name,
  emoji_code: emoji.emoji_code,
  reaction_type: emoji.reaction_type,
  user_id,
  user: { id: user_id, email: email ?? '', full_name: full_name ?? '', is_mirror_dummy: false },
});

/** Fields that are absent on an unchanged message; newest change first. */
function editParts(
  edits: readonly EditRow[],
  policy: HistoryPolicy,
  allowEmptyTopic: boolean,
): Pick<MessageExtras, 'edit_history' | 'last_edit_timestamp' | 'last_moved_timestamp'> {
  const lastEdit = edits.findLast((edit) => edit.prev_content !== null);
  const lastMove = edits.findLast((edit) => isMove(edit) && !isOnlyResolved(edit));
  const times = {
    ...(lastEdit ? { last_edit_timestamp: Math.floor(lastEdit.edited) } : {}),
    ...(lastMove ? { last_moved_timestamp: Math.floor(lastMove.edited) } : {}),
  };
  const shown = edits.filter((edit) => isMove(edit) || policy === 'all');
  if (policy === 'none' || shown.length === 0) return times;
  return { ...times, edit_history: shown.map((edit) => toEntry(edit, policy, allowEmptyTopic)).reverse() };
}

const isMove = (edit: EditRow): boolean => edit.prev_topic !== null || edit.prev_channel_id !== null;
const isOnlyResolved = ({ prev_topic, topic, prev_channel_id }: EditRow): boolean =>
  prev_channel_id === null && prev_topic !== null && topic !== null && isResolveToggle(prev_topic, topic);

const toEntry = (edit: EditRow, policy: HistoryPolicy, allowEmptyTopic: boolean): Change => ({
  user_id: edit.user_id,
  timestamp: Math.floor(edit.edited),
  ...(edit.prev_content !== null && policy === 'all'
    ? { prev_content: edit.prev_content, prev_rendered_content: edit.prev_rendered_content }
    : {}),
  ...(edit.prev_topic === null
    ? {}
    : {
        prev_topic: shownTopic(edit.prev_topic, allowEmptyTopic),
        topic: shownTopic(edit.topic ?? '', allowEmptyTopic),
      }),
  ...(edit.prev_channel_id === null ? {} : { prev_stream: edit.prev_channel_id, stream: edit.channel_id }),
});

const shownTopic = (topic: string, allowEmptyTopic: boolean): string =>
  topic === '' && !allowEmptyTopic ? emptyTopicDisplayName : topic;
