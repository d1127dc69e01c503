import { setImmediate } from 'node:timers/promises';
import type { EditSnapshot } from '@natter/contracts';
import { sql } from '@natter/database';
import { z } from 'zod';
import { createHtmlDiff } from './html-diff.ts';

/** One change of a message. The previous values are null if the change did not affect them. */
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
 * The states of a message, oldest first, beginning with the state as sent. Each repeats the text, so a state may be much
 * larger than its change: of a history of more than `maxBytes`, the oldest changes are omitted. Yields to other requests
 * between two states.
 */
export async function editSnapshots(
  message: Current,
  edits: readonly EditRow[],
  { policy, maxBytes }: { policy: HistoryPolicy; maxBytes: number },
): Promise<EditSnapshot[]> {
  const htmlDiff = createHtmlDiff();
  let { topic, content, rendered_content } = message;
  let bytes = 0;
  const snapshots: EditSnapshot[] = [];
  for (const edit of [...edits].reverse()) {
    const isContent = edit.prev_content !== null && policy === 'all';
    const isMove = edit.prev_topic !== null || edit.prev_channel_id !== null;
    if ((isContent || isMove) && bytes <= maxBytes) {
      await setImmediate();
      const snapshot: EditSnapshot = {
        topic,
        content,
        rendered_content,
        timestamp: Math.floor(edit.edited),
        user_id: edit.user_id,
        ...moveOf(edit),
        ...(isContent ? contentChange(edit, rendered_content, htmlDiff) : {}),
      };
      bytes += Buffer.byteLength(JSON.stringify(snapshot));
      if (bytes <= maxBytes) snapshots.push(snapshot);
    }
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

const moveOf = ({ prev_topic, prev_channel_id, channel_id }: EditRow): Partial<EditSnapshot> => ({
  ...(prev_topic === null ? {} : { prev_topic }),
  ...(prev_channel_id === null ? {} : { prev_stream: prev_channel_id, stream: channel_id ?? prev_channel_id }),
});

function contentChange(
  { prev_content, prev_rendered_content }: EditRow,
  rendered_content: string,
  htmlDiff: (before: string, after: string) => string,
): Partial<EditSnapshot> {
  const before = prev_rendered_content ?? '';
  return {
    prev_content: prev_content ?? '',
    prev_rendered_content: before,
    content_html_diff: htmlDiff(before, rendered_content),
  };
}

/** The changes of messages, oldest first. */
export const editsOf = (realmId: number, messageIds: readonly number[]) =>
  sql.type(editRow)`
    SELECT message_id, user_id, extract(epoch FROM edited_at)::float8 AS edited, prev_content, prev_rendered_content, prev_topic, topic,
      prev_channel_id, channel_id
    FROM messaging.message_edit WHERE realm_id = ${realmId} AND message_id = ANY(${sql.array([...messageIds], 'int8')}) ORDER BY message_id, id`;
