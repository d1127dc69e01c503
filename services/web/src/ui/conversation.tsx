import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
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
import { titleOf } from './names.ts';
import { usePageTitle } from './page-title.ts';
import { useDirectory, useSelected, useSession } from './session-context.tsx';
import { TopicMenu } from './topic-menu.tsx';

interface ConversationProps {
  narrow: Narrow;
  /** The message at which the conversation opens. */
  near?: number | undefined;
  empty?: string;
  /** Stands below the title. */
  children?: ReactNode;
}

export function Conversation({ narrow, near, empty, children }: ConversationProps) {
  const session = useSession();
  const key = keyOf(narrow);
  const directory = useDirectory();
  const view = useSelected((state) => state.views.get(key));
  const problem = useSelected((state) => state.failed.get(key));
  const title = titleOf(directory, narrow);
  usePageTitle(title);
  useReadingLock(directory.ownId, narrow);
  const isStale = view?.isStale ?? true;
  useEffect(() => {
    session.shown = { narrow, topId: near };
    session.reading.keepsUnread = false;
    const known = session.state.views.get(key);
    if (known && (near !== undefined || lacksPlace(session.state, known))) void session.open(narrow, near);
    composeIsShown(key);
  }, [session, key, near]);
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
        <MessageList view={view} near={near} {...(empty === undefined ? {} : { empty })} />
      ) : (
        <div className="empty">
          {problem === undefined ? (
            <p role="status">{t('loadingMessages')}</p>
          ) : (
            <>
              <p role="alert">{t('messagesNotLoaded', { problem })}</p>
              <button type="button" onClick={() => void session.open(narrow, near)}>
                {t('tryAgain')}
              </button>
            </>
          )}
        </div>
      )}
      <Writing narrow={narrow} />
    </main>
  );
}

/**
 * A link names the conversation where a message was; the page leads to where it is, unless the reader has begun to write.
 * Once the page has shown the message, what others move is followed by `useLeft` alone.
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
      // A draft stays where other messages stay.
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
      const topId = session.shown?.topId;
      const [newest, before] = event.message_ids.toSorted((a, b) => b - a);
      const placeOf = async (id: number | undefined) => (id === undefined ? undefined : session.placeOf(id));
      const findPlace = async (): Promise<Place | undefined> =>
        // The newest one may be a notice that was deleted with the move. Undefined where the reader may not read.
        (await placeOf(newest)) ?? (await placeOf(before));
      void findPlace().then((place) => {
        if (isCurrent && place && keyOf(place) !== key) follow(narrow, place, topId);
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
    return <p className="compose-hint">{t('youAreNotSubscribedToThisChannel')}</p>;
  return isPlace(narrow) ? (
    <Compose place={narrow as Place} label={t('messageTo', { title: titleOf(directory, narrow) })} />
  ) : (
    <NewTopic channelId={narrow.channelId} />
  );
}
