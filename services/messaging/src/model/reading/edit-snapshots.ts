import { setImmediate } from 'node:timers/promises';
import type { EditSnapshot } from '@natter/contracts';
import { sql } from '@natter/database';
import { z } from 'zod';
import { createHtmlDiff } from './html-diff.ts';

/** One change of a message: the previous values; null if it did not change the value. */
const editRow = z.object({
  message_id: z.number(),
  user_id: z.number(),
  edited: z.number(),
  prev_content: z.string().nullable(),
  prev_rendered_content: z.string().nullable(),
  prev_topic: z.string().nullable(),
  topic: z.string().nullable(),
  prev_channel_id: z.number().nullable(),
  channel_id: z.number().nullable(),
});
export type EditRow = z.infer<typeof editRow>;

export interface Current {
  sender_id: number;
  sent: number;
  topic: string;
  content: string;
  rendered_content: string;
}

export type HistoryPolicy = 'all' | 'moves' | 'none';

/**
 * The states of a message, oldest first, beginning with the state as sent. Yields to other requests between two states.
 */
export async function editSnapshots(
  message: Current,
  edits: readonly EditRow[],
  policy: HistoryPolicy,
): Promise<EditSnapshot[]> {
  const htmlDiff = createHtmlDiff();
  let { topic, content, rendered_content } = message;
  const snapshots: EditSnapshot[] = [];
  for (const edit of [...edits].reverse()) {
    await setImmediate();
    const isContent = edit.prev_content !== null && policy === 'all';
    const isMove = edit.prev_topic !== null || edit.prev_channel_id !== null;
    const before = edit.prev_rendered_content ?? '';
    if (isContent || isMove)
      snapshots.push({
        topic,
        content,
        rendered_content,
        timestamp: Math.floor(edit.edited),
        user_id: edit.user_id,
        ...(edit.prev_topic === null ? {} : { prev_topic: edit.prev_topic }),
        ...(edit.prev_channel_id === null
          ? {}
          : { prev_stream: edit.prev_channel_id, stream: edit.channel_id ?? edit.prev_channel_id }),
        ...(isContent
          ? {
              prev_content: edit.prev_content ?? '',
              prev_rendered_content: before,
              content_html_diff: htmlDiff(before, rendered_content),
            }
          : {}),
      });
    topic = edit.prev_topic ?? topic;
    if (policy === 'all') {
      content = edit.prev_content ?? content;
      rendered_content = edit.prev_rendered_content ?? rendered_content;
    }
  }
  snapshots.push({
    topic,
    content,
    rendered_content,
    timestamp: Math.floor(message.sent),
    user_id: message.sender_id,
  });
  return snapshots.reverse();
}

/** The changes of messages, oldest first. */
export const editsOf = (realmId: number, messageIds: readonly number[]) =>
  sql.type(editRow)`
    SELECT message_id, user_id, extract(epoch FROM edited_at)::float8 AS edited, prev_content, prev_rendered_content, prev_topic, topic,
      prev_channel_id, channel_id
    FROM messaging.message_edit WHERE realm_id = ${realmId} AND message_id = ANY(${sql.array([...messageIds], 'int8')}) ORDER BY message_id, id`;
