import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { newestId } from '../session/message-pages.ts';
import { covers } from '../state/bounds.ts';
import { textOf } from '../state/edits.ts';
import { keyOf, type Narrow, type Place } from '../state/place.ts';
import { isMoveFrom, lacksPlace } from '../state/views.ts';
import { t } from '../text/text.ts';
import { Compose, NewTopic } from './compose.tsx';
import { composeIsShown } from './compose-text.ts';
import { useReadingLock } from './desktop-notifications.ts';
import { useFollow } from './lead-on.ts';
import { isPlace, linkTo } from './links.ts';
import { MessageList } from './message-list.tsx';
import { headingOf, titleOf } from './names.ts';
import { usePageTitle } from './page-title.ts';
import { useEntry } from './reader-places.ts';
import { useDirectory, useDirectoryFor, useSelected, useSession } from './session-context.tsx';
import { SubscribeHint } from './subscribe-hint.tsx';
import { TopicMenu } from './topic-menu.tsx';
import { UnlistedMessages } from './unlisted-messages.tsx';

interface ConversationProps {
  narrow: Narrow;
  /** The message at which the conversation opens. */
  near?: number | undefined;
  empty?: string;
  /** Content below the title. */
  children?: ReactNode;
}

export function Conversation({ narrow, near, empty, children }: ConversationProps) {
  const session = useSession();
  const key = keyOf(narrow);
  const directory = useDirectoryFor(narrow);
  const view = useSelected((state) => state.views.get(key));
  const problem = useSelected((state) => state.failed.get(key));
  const title = headingOf(directory, narrow);
  usePageTitle(title);
  useReadingLock(directory.ownId, narrow);
  const entry = useEntry(key, near);
  const start = entry.place?.id ?? near;
  const isStale = view?.isStale ?? true;
  const opened = useRef('');
  useEffect(() => {
    session.shown = { narrow, topId: start };
    session.reading.keepsUnread = false;
    const known = session.state.views.get(key);
    // The list on screen goes to another place only when it is loaded there.
    const isOnScreen = opened.current === key;
    opened.current = key;
    const isThere = known && entry.place && !isOnScreen && covers(known, entry.place.id);
    const { channels, archived } = session.state.model;
    const isFollowed = !('channelId' in narrow) || channels.has(narrow.channelId) || archived.has(narrow.channelId);
    // Without a subscription, the client receives no events of the channel, so messages may be missing in the view.
    if (known && (!isFollowed || (!isThere && (start !== undefined || lacksPlace(session.state, known)))))
      void session.open(narrow, start, start !== undefined && !entry.place);
    composeIsShown(key);
  }, [session, key, entry]);
  useEffect(() => {
    // At the place of the reader, who may have scrolled since the page was opened.
    if (isStale) void session.open(narrow, session.shown?.topId);
  }, [session, key, isStale]);
  useMoved(narrow, near);
  useLeft(narrow);
  return (
    <main className="conversation" key={key}>
      <div className="head">
        <h1 title={title}>{title}</h1>
        {narrow.kind === 'topic' && <TopicMenu place={narrow} />}
      </div>
      {children}
      {view ? (
        <MessageList view={view} near={near} entry={entry} {...(empty === undefined ? {} : { empty })} />
      ) : (
        <UnlistedMessages narrow={narrow} problem={problem} onRetry={() => void session.open(narrow, start)} />
      )}
      <Writing narrow={narrow} />
    </main>
  );
}

/**
 * A link names the conversation of a message at that time. The page leads to the present one, unless the reader has begun to
 * write. Once the page has shown the message, only `useLeft` follows moves by others.
 */
function useMoved(narrow: Narrow, near: number | undefined): void {
  const session = useSession();
  const navigate = useNavigate();
  const follow = useFollow();
  const key = keyOf(narrow);
  useEffect(() => {
    if (near === undefined || !isPlace(narrow)) return;
    let isCurrent = true;
    const written = (): string => textOf(session.state.composing, session.state.model.writing, key);
    const before = written();
    const lead = async (): Promise<void> => {
      const place = await session.placeOf(near);
      if (!isCurrent || !place || keyOf(place) === key) return;
      // A draft stays if other messages stay.
      const isEmpty = session.state.views.get(key)?.ids.length === 0;
      if (isEmpty && follow(narrow, place, near)) return;
      if (written() === before) void navigate({ ...linkTo(place, near), replace: true });
    };
    const check = (): void => {
      const view = session.state.views.get(key);
      const isThere = view?.ids.includes(near) ?? false;
      if (!isThere && view?.anchor !== near) return;
      end();
      if (!isThere) void lead();
    };
    const end = session.subscribe(check);
    check();
    return () => {
      isCurrent = false;
      end();
    };
  }, [session, navigate, key, near]);
}

/** The page follows the messages of a conversation when all that it shows are moved together. */
function useLeft(narrow: Narrow): void {
  const session = useSession();
  const follow = useFollow();
  const key = keyOf(narrow);
  useEffect(() => {
    if (!isPlace(narrow)) return;
    let isCurrent = true;
    const end = session.onEvent((event) => {
      if (!isMoveFrom(event, key) || session.state.views.get(key)?.ids.length !== 0) return;
      const { topId } = session.shown ?? {};
      const top = topId === newestId ? undefined : topId;
      const [newest, before] = event.message_ids.toSorted((a, b) => b - a);
      const placeOf = async (id: number | undefined) => (id === undefined ? undefined : session.placeOf(id));
      const findPlace = async (): Promise<Place | undefined> =>
        // The newest one may be a notice that was deleted with the move. Undefined if the reader may not read there.
        (await placeOf(newest)) ?? (await placeOf(before));
      void findPlace().then((place) => {
        if (isCurrent && place && keyOf(place) !== key) follow(narrow, place, top);
      });
    });
    return () => {
      isCurrent = false;
      end();
    };
  }, [session, key]);
}

function Writing({ narrow }: { narrow: Narrow }) {
  const directory = useDirectory();
  if (!isPlace(narrow) && narrow.kind !== 'channel')
    return <p className="compose-hint">{t('openAConversationToWriteInIt')}</p>;
  if (narrow.kind !== 'direct' && !directory.channels.has(narrow.channelId))
    return <SubscribeHint channelId={narrow.channelId} />;
  return isPlace(narrow) ? (
    <Compose place={narrow as Place} label={t('messageTo', { title: titleOf(directory, narrow) })} />
  ) : (
    <NewTopic channelId={narrow.channelId} />
  );
}
