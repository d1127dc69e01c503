import { keyOf, type Message, type Place, placeOf } from '../state/place.ts';
import type { Outgoing } from '../state/state.ts';
import type { View } from '../state/views.ts';
import { isStatusText } from './status-text.ts';

export interface Row {
  key: string;
  /** Absent for an outgoing message. */
  message: Message | undefined;
  outgoing: Outgoing | undefined;
  /** The day that begins with this row. */
  day: Date | undefined;
  /** Whether the place is another one than of the row before. */
  isNewPlace: boolean;
  /** Whether the row shows the sender. Messages that follow within minutes do not, except at and after a status. */
  isNamed: boolean;
  /** Messages of muted people that this row stands for; `message` is the first of them. */
  hidden: readonly number[];
}

/** Whether a row shows a message, or stands for it. */
export const isRowOf = ({ message, hidden }: Row, id: number | undefined): boolean =>
  message !== undefined && (message.id === id || (id !== undefined && hidden.includes(id)));

/** The message that keys act on; none in a row that hides messages. */
export const messageForKeys = (row: Row | undefined): Message | undefined =>
  row === undefined || row.hidden.length > 0 ? undefined : row.message;

const groupedSeconds = 10 * 60;

export interface Listed {
  view: Pick<View, 'narrow' | 'ids' | 'hasNewest'>;
  messages: ReadonlyMap<number, Message>;
  outbox: readonly Outgoing[];
  ownId: number;
  /** Outgoing messages have the time of this machine. */
  clockSkew: number;
  muted: ReadonlySet<number>;
  /** Messages of muted people that the reader wants to see nevertheless. */
  revealed: ReadonlySet<number>;
}

/** The rows of a list. Dates, places and senders are shown when they change. */
export function rowsOf({ view, messages, outbox, ownId, clockSkew, muted, revealed }: Listed): Row[] {
  const rows: Row[] = [];
  let before: { day: string; place: string; senderId: number; at: number } | undefined;
  const add = (
    now: { place: string; senderId: number; at: number; isStatus: boolean },
    row: Pick<Row, 'key' | 'message' | 'outgoing'>,
  ): void => {
    const date = new Date(now.at * 1_000);
    const day = date.toDateString();
    const isNewDay = before?.day !== day;
    const isNewPlace = before?.place !== now.place;
    const isOfSame = before?.senderId === now.senderId && now.at - before.at <= groupedSeconds;
    const isNamed = isNewDay || isNewPlace || now.isStatus || !isOfSame;
    rows.push({ ...row, day: isNewDay ? date : undefined, isNewPlace, isNamed, hidden: [] });
    before = { ...now, day, senderId: now.isStatus ? nobody : now.senderId };
  };
  for (const id of view.ids) {
    const message = messages.get(id);
    if (!message) continue;
    const place = placeOf(message, ownId);
    if (isOutOfSight(place, view, muted)) continue;
    const isHidden = muted.has(message.sender_id) && !revealed.has(id);
    const now = {
      place: keyOf(place),
      senderId: isHidden ? nobody : message.sender_id,
      at: message.timestamp,
      isStatus: message.is_me_message,
    };
    add(now, { key: String(id), message, outgoing: undefined });
    if (isHidden) hideLast(rows);
  }
  if (view.hasNewest)
    for (const outgoing of outbox) {
      const now = {
        place: keyOf(outgoing.place),
        senderId: ownId,
        at: Math.floor(outgoing.at / 1_000) + clockSkew,
        isStatus: isStatusText(outgoing.content),
      };
      add(now, { key: outgoing.id, message: undefined, outgoing });
    }
  return rows;
}

const nobody = -1;

/** Direct messages with a muted person alone are seen in their own conversation only. */
const isOutOfSight = (place: Place, { narrow }: Listed['view'], muted: ReadonlySet<number>): boolean =>
  place.kind === 'direct' && narrow.kind !== 'direct' && place.userIds.length === 1 && muted.has(place.userIds[0] ?? 0);

/** Messages of muted people that follow each other are one row. */
function hideLast(rows: Row[]): void {
  const row = rows.pop();
  const before = rows.at(-1);
  if (!row?.message) return;
  const continues = before && before.hidden.length > 0 && !row.day && !row.isNewPlace;
  if (continues) rows[rows.length - 1] = { ...before, hidden: [...before.hidden, row.message.id] };
  else rows.push({ ...row, hidden: [row.message.id] });
}
