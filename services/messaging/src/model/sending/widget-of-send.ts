import type { LoggedMessage } from '@natter/contracts';
import { type Executor, type InsertNumbered, type Numbered, sql } from '@natter/database';
import { z } from 'zod';
import type { Widget } from './widget-command.ts';

/** The parts that a widget adds to a send: the submessage of the event, and its row. */
export interface SentWidget {
  /** Without the message id, which the event gets with its number. */
  submessages: LoggedMessage['submessages'];
  rows: (fromEnd: number) => Numbered[];
}

export const noWidget: SentWidget = { submessages: [], rows: () => [] };

const intoSubmessages: InsertNumbered = (rows) => sql.unsafe`
  INSERT INTO messaging.submessage (id, realm_id, message_id, sender_id, msg_type, content) OVERRIDING SYSTEM VALUE
  SELECT m.id, m.realm_id, m.number, m.sender_id, m.msg_type, m.content
  FROM ${rows(sql.fragment`id int, sender_id int, msg_type text, content text`)} m`;

export async function sentWidget(executor: Executor, senderId: number, widget: Widget): Promise<SentWidget> {
  const { id } = await executor.one(
    sql.type(z.object({ id: z.number() }))`SELECT nextval(pg_get_serial_sequence('messaging.submessage', 'id')) AS id`,
  );
  const submessage = { id, sender_id: senderId, msg_type: 'widget', content: JSON.stringify(widget) };
  return {
    submessages: [submessage],
    rows: (from_end) => [{ into: intoSubmessages, row: { from_end, ...submessage } }],
  };
}
