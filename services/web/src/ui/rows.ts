import { keyOf, type Message, placeOf } from '../state/place.ts';
import type { Outgoing } from '../state/state.ts';
import type { View } from '../state/views.ts';

export interface Row {
  key: string;
  /** Absent for an outgoing message. */
  message: Message | undefined;
  outgoing: Outgoing | undefined;
  /** The day that begins with this row. */
  day: Date | undefined;
  /** Whether the place is another one than of the row before. */
  isNewPlace: boolean;
  /** Whether the sender is named: not again for what follows within minutes. */
  isNamed: boolean;
}

const groupedSeconds = 10 * 60;

interface Listed {
  view: View;
  messages: ReadonlyMap<number, Message>;
  outbox: readonly Outgoing[];
  ownId: number;
}

/** The rows of a list: date lines, places and senders stand where they change. */
export function rowsOf({ view, messages, outbox, ownId }: Listed): Row[] {
  const rows: Row[] = [];
  let before: { day: string; place: string; senderId: number; at: number } | undefined;
  const add = (
    now: { place: string; senderId: number; at: number },
    row: Pick<Row, 'key' | 'message' | 'outgoing'>,
  ): void => {
    const date = new Date(now.at * 1_000);
    const day = date.toDateString();
    const isNewDay = before?.day !== day;
    const isNewPlace = before?.place !== now.place;
    const isNamed =
      isNewDay || isNewPlace || before?.senderId !== now.senderId || now.at - (before?.at ?? 0) > groupedSeconds;
    rows.push({ ...row, day: isNewDay ? date : undefined, isNewPlace, isNamed });
    before = { ...now, day };
  };
  for (const id of view.ids) {
    const message = messages.get(id);
    if (!message) continue;
    const now = { place: keyOf(placeOf(message, ownId)), senderId: message.sender_id, at: message.timestamp };
    add(now, { key: String(id), message, outgoing: undefined });
  }
  if (view.hasNewest)
    for (const outgoing of outbox) {
      const now = { place: keyOf(outgoing.place), senderId: ownId, at: Math.floor(outgoing.at / 1_000) };
      add(now, { key: outgoing.id, message: undefined, outgoing });
    }
  return rows;
}
