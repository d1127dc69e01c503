import type { useNavigate } from '@tanstack/react-router';
import type { Session } from '../session/session.ts';
import { textOf } from '../state/edits.ts';
import { keyOf, type Message, type Place, placeOf } from '../state/place.ts';
import type { Outgoing } from '../state/state.ts';
import { t } from '../text/text.ts';
import { composeIn, focusCompose } from './compose-text.ts';
import { linkTo, pageNow, permalink } from './links.ts';
import { personName } from './names.ts';
import { isDialogOpen, openDialog } from './open-dialog.ts';

type Navigate = ReturnType<typeof useNavigate>;

const isShown = (session: Session, place: Place): boolean =>
  session.shown !== undefined && keyOf(session.shown.narrow) === keyOf(place);

/** Opens the conversation of a message, with the cursor in its compose box. */
export function reply(session: Session, navigate: Navigate, message: Message): void {
  const place = placeOf(message, session.state.model.ownId);
  if (isShown(session, place)) focusCompose();
  else {
    composeIn(keyOf(place), '', false);
    void navigate(linkTo(place));
  }
}

/**
 * The text of the message, named and linked; undefined if it cannot be read, or if the reader has gone to another page, dialog
 * or text field in the meantime. They may be in the compose box if it is the one that gets a reply.
 */
async function quotationOf(session: Session, message: Message, isReply: boolean): Promise<string | undefined> {
  const { model } = session.state;
  const page = pageNow();
  const source = await session.actions.sourceOf(message.id);
  if (source === undefined || pageNow() !== page || isDialogOpen()) return undefined;
  const isForCompose = isReply && isShown(session, placeOf(message, model.ownId));
  if (document.activeElement?.matches(isForCompose ? 'input,textarea:not(#compose)' : 'input,textarea'))
    return undefined;
  const name = message.sender_full_name || personName(model, message.sender_id);
  // The fence is longer than every fence in the text.
  const fences = source.match(/`{3,}/g) ?? [];
  const fence = '`'.repeat(Math.max(3, ...fences.map((one) => one.length + 1)));
  const link = permalink(model, placeOf(message, model.ownId), message.id);
  return `@_**${name}|${message.sender_id}** [said](${link}):\n${fence}quote\n${source}\n${fence}\n`;
}

/** Replies with the text of the message, named and linked. */
export async function quote(session: Session, navigate: Navigate, message: Message): Promise<void> {
  const text = await quotationOf(session, message, true);
  if (text === undefined) return;
  const place = placeOf(message, session.state.model.ownId);
  const shown = isShown(session, place);
  composeIn(keyOf(place), text, shown);
  if (!shown) void navigate(linkTo(place));
}

/** Puts the text of a message that was not sent back into the compose box. */
export function takeBack(session: Session, navigate: Navigate, outgoing: Outgoing): void {
  const { place, content } = outgoing;
  const key = keyOf(place);
  const { composing, model } = session.state;
  const written = textOf(composing, model.writing, key);
  session.writer.edit(key, place, written === '' ? content : `${written}\n${content}`);
  session.discard(outgoing);
  if (isShown(session, place)) focusCompose();
  else void navigate(linkTo(place));
}

/** Asks for the conversation in which the text of the message is quoted. */
export async function forward(session: Session, message: Message): Promise<void> {
  const text = await quotationOf(session, message, false);
  if (text !== undefined) openDialog({ name: 'new', text });
}

/** Asks for an emoji, and adds it to the message or takes it back. */
export function react(session: Session, messageId: number): void {
  openDialog({
    name: 'emoji',
    title: t('reactWithAnEmoji'),
    onChoose: (emoji) => {
      const { messages, model } = session.state;
      const message = messages.get(messageId);
      if (message) void session.actions.toggleReaction(message, emoji, model.ownId);
    },
  });
}

/** Messages from here on stay unread until another page is opened. */
export async function markUnreadFrom(session: Session, message: Message): Promise<void> {
  session.reading.keepUnread();
  const place = placeOf(message, session.state.model.ownId);
  if (!(await session.actions.markUnreadFrom(place, message.id))) session.reading.keepsUnread = false;
}
