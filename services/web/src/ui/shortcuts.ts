import { useNavigate } from '@tanstack/react-router';
import { useLayoutEffect } from 'react';
import { serverNow } from '../session/server-time.ts';
import type { Session } from '../session/session.ts';
import { isMuted, type Model } from '../state/model.ts';
import { mayMoveOut, mayMoveWithin } from '../state/permissions.ts';
import { keyOf, type Message, type Place, placeOf } from '../state/place.ts';
import { hasReadReceipts } from '../state/realm.ts';
import { hasHistory, mayEdit } from '../state/rules.ts';
import { focusCompose } from './compose-text.ts';
import { isOfInputMethod } from './composing.ts';
import { currentList, edit, isTextAwaited, type Reading } from './editing.ts';
import { thumbsUp } from './emoji.tsx';
import { linkTo } from './links.ts';
import { markUnreadFrom, quote, react, reply } from './message-commands.ts';
import { isOfSystem } from './modifiers.ts';
import { isDialogOpen, openDialog } from './open-dialog.ts';
import { useSession } from './session-context.tsx';

type Navigate = ReturnType<typeof useNavigate>;
interface Context {
  session: Session;
  navigate: Navigate;
}

/** The oldest unread conversation after the one on screen; muted ones are left out. */
function nextUnread(
  model: Model,
  shownKey: string | undefined,
  isWanted: (place: Place) => boolean,
): Place | undefined {
  return [...model.unread.values()]
    .filter(({ place }) => isWanted(place) && !isMuted(model, place) && keyOf(place) !== shownKey)
    .sort((a, b) => Math.min(...a.ids) - Math.min(...b.ids))[0]?.place;
}

function goToUnread({ session, navigate }: Context, isWanted: (place: Place) => boolean): void {
  const { shown, state } = session;
  const place = nextUnread(state.model, shown && keyOf(shown.narrow), isWanted);
  void navigate(place ? linkTo(place) : { to: '/inbox' });
}

type Act = (context: Context) => void;
const pages: Record<string, Act> = {
  '/': ({ navigate }) => void navigate({ to: '/search' }),
  '?': () => openDialog({ name: 'shortcuts' }),
  n: (context) => goToUnread(context, () => true),
  p: (context) => goToUnread(context, ({ kind }) => kind === 'direct'),
  I: ({ navigate }) => void navigate({ to: '/inbox' }),
  t: ({ navigate }) => void navigate({ to: '/recent' }),
  a: ({ navigate }) => void navigate({ to: '/' }),
  '@': ({ navigate }) => void navigate({ to: '/mentions' }),
  '*': ({ navigate }) => void navigate({ to: '/starred' }),
  c: () => void focusCompose(),
};

/** Keys of a list of messages. On other pages, arrows and End scroll. */
const lists: Record<string, (list: Reading) => void> = {
  j: (list) => list.move(1),
  ArrowDown: (list) => list.move(1),
  k: (list) => list.move(-1),
  ArrowUp: (list) => list.move(-1),
  G: (list) => list.end(),
  End: (list) => list.end(),
};

type ActOn = (context: Context, message: Message) => void;
const messages: Record<string, ActOn> = {
  r: ({ session, navigate }, message) => reply(session, navigate, message),
  Enter: ({ session, navigate }, message) => reply(session, navigate, message),
  '>': ({ session, navigate }, message) => void quote(session, navigate, message),
  e: ({ session }, message) => {
    if (mayEdit(session.state.model, message, serverNow(session.state))) edit(message.id);
  },
  '+': ({ session }, message) => void session.actions.toggleReaction(message, thumbsUp, session.state.model.ownId),
  ':': ({ session }, message) => react(session, message.id),
  s: ({ session }, message) => void session.actions.toggleStar(message),
  H: ({ session }, message) => {
    if (hasHistory(session.state.model, message)) openDialog({ name: 'history', messageId: message.id });
  },
  V: ({ session }, message) => {
    if (hasReadReceipts(session.state.model)) openDialog({ name: 'readers', messageId: message.id });
  },
  u: (_, message) => openDialog({ name: 'person', userId: message.sender_id }),
  m: ({ session }, message) => {
    const { model } = session.state;
    const place = placeOf(message, model.ownId);
    if (place.kind === 'topic' && (mayMoveWithin(model, place) || mayMoveOut(model, place)))
      openDialog({ name: 'move', place, messageId: message.id });
  },
  U: ({ session }, message) => void markUnreadFrom(session, message),
};

const writing = 'input,textarea,select,[contenteditable],dialog,[role=menu]';
const pressable = 'a,button,summary';

/** The action of a key. Text fields, dialogs and menus handle their own keys. */
function actionOf(event: KeyboardEvent): Act | undefined {
  const target = event.target instanceof Element ? event.target : document.body;
  const hasDialog = isDialogOpen() || document.querySelector('dialog[open]') !== null;
  if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey)
    return hasDialog ? undefined : () => openDialog({ name: 'palette' });
  if (isOfSystem(event) || isOfInputMethod(event)) return undefined;
  if (target.id === 'compose' && event.key === 'Escape') {
    return () => {
      (target as HTMLElement).blur();
      document.querySelector<HTMLElement>('.messages')?.focus({ preventScroll: true });
    };
  }
  if (target.closest(writing) || hasDialog) return undefined;
  if ((event.key.length === 1 || event.key === 'Enter') && isTextAwaited()) return undefined;
  if (event.key === 'Enter' && target.closest(pressable)) return undefined;
  const list = currentList();
  const inList = Object.hasOwn(lists, event.key) ? lists[event.key] : undefined;
  if (inList) return list && (() => inList(list));
  const onMessage = Object.hasOwn(messages, event.key) ? messages[event.key] : undefined;
  if (!onMessage) return Object.hasOwn(pages, event.key) ? pages[event.key] : undefined;
  const message = list?.current();
  return message && ((context) => onMessage(context, message));
}

export function useShortcuts(): void {
  const session = useSession();
  const navigate = useNavigate();
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const act = actionOf(event);
      if (!act) return;
      event.preventDefault();
      act({ session, navigate });
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [session, navigate]);
}
