import { memo, useEffect, useMemo, useState } from 'react';
import { serverNow } from '../session/server-time.ts';
import { isMuted } from '../state/model.ts';
import { keyOf, type Narrow } from '../state/place.ts';
import { type Conversation, conversationsOf } from '../state/recent.ts';
import { t } from '../text/text.ts';
import { dateLanguage } from './dates.ts';
import { channelName, type Directory, shownName, titleOf, topicName } from './names.ts';
import { PageLink } from './page-link.tsx';
import { usePageTitle } from './page-title.ts';
import { UnreadCount } from './phrase.tsx';
import { SearchField } from './search-field.tsx';
import { useDirectory, useSelected, useSession } from './session-context.tsx';

const all: Narrow = { kind: 'all' };
const maxShown = 300;
const maxSearched = 5_000;
const shownSenders = 3;
const timeFormat = new Intl.DateTimeFormat(dateLanguage(), { timeStyle: 'short' });
const dayFormat = new Intl.DateTimeFormat(dateLanguage(), { dateStyle: 'medium' });

export function RecentPage() {
  const session = useSession();
  const key = keyOf(all);
  const directory = useDirectory();
  const policies = useSelected(({ model }) => model.policies);
  const unread = useSelected(({ model }) => model.unread);
  const messages = useSelected((state) => state.messages);
  const view = useSelected((state) => state.views.get(key));
  const problem = useSelected((state) => state.failed.get(key));
  const [filter, setFilter] = useState('');
  const [isUnreadOnly, setUnreadOnly] = useState(false);
  const isMissing = view === undefined;
  const isStale = view?.isStale ?? true;
  useEffect(() => {
    session.shown = { narrow: all, topId: undefined };
    if (isStale) void session.open(all);
  }, [session, isStale]);
  const conversations = useMemo(
    () => (view ? conversationsOf(view, messages, directory.ownId) : []),
    [view, messages, directory.ownId],
  );
  const found = useMemo(() => {
    const muting = { ...directory, policies };
    const wanted = filter.trim().toLowerCase();
    return conversations.filter(
      ({ place, key: one }) =>
        (!isUnreadOnly || unread.has(one)) &&
        !(place.kind === 'direct' && isMuted(muting, place)) &&
        titleOf(directory, place).toLowerCase().includes(wanted),
    );
  }, [conversations, directory, policies, filter, isUnreadOnly, unread]);
  const today = new Date(serverNow(session.state)).toDateString();
  usePageTitle(t('recentConversations'));
  return (
    <main className="conversation">
      <h1>{t('recentConversations')}</h1>
      <div className="filters">
        <SearchField label={t('filterConversations')} text={filter} onChange={setFilter} />
        <label>
          <input type="checkbox" checked={isUnreadOnly} onChange={(event) => setUnreadOnly(event.target.checked)} />
          {t('unreadOnly')}
        </label>
      </div>
      <div className="page">
        {problem !== undefined && isMissing && (
          <div className="empty">
            <p role="alert">{t('messagesNotLoaded', { problem })}</p>
            <button type="button" onClick={() => void session.open(all)}>
              {t('tryAgain')}
            </button>
          </div>
        )}
        {problem === undefined && isMissing && <p role="status">{t('loadingMessages')}</p>}
        {view && found.length === 0 && (
          <p className="empty">{conversations.length === 0 ? t('thereAreNoConversationsYet') : t('nothingFound')}</p>
        )}
        {found.length > 0 && (
          <ul className="recent" aria-label={t('conversations')}>
            {found.slice(0, maxShown).map((one) => (
              <Line
                key={one.key}
                directory={directory}
                conversation={one}
                unread={unread.get(one.key)?.ids.size ?? 0}
                today={today}
              />
            ))}
          </ul>
        )}
        {view && !view.hasOldest && view.ids.length < maxSearched && (
          <p className="more">
            <button type="button" onClick={() => void session.extend(all, 'oldest')}>
              {t('showOlderConversations')}
            </button>
          </p>
        )}
      </div>
    </main>
  );
}

interface LineProps {
  directory: Directory;
  conversation: Conversation;
  unread: number;
  /** The present date, in the format of `Date.toDateString`. */
  today: string;
}

/** Drawn again only when messages or names change: other events are more frequent. */
const Line = memo(function Line({ directory, conversation, unread, today }: LineProps) {
  const { place, newest, senderIds } = conversation;
  const at = new Date(newest.timestamp * 1_000);
  const more = senderIds.length - shownSenders;
  const color = place.kind === 'topic' ? directory.channels.get(place.channelId)?.color : undefined;
  const names = senderIds
    .slice(0, shownSenders)
    .map((id) => (id === directory.ownId ? t('you') : shownName(directory, id)))
    .join(', ');
  return (
    <li className="conversation-line">
      <PageLink to={place} className="entry">
        <span className="hash" aria-hidden="true" data-direct={place.kind === 'direct'} style={{ background: color }} />
        <span className="label">
          {place.kind === 'topic' ? (
            <>
              <bdi>#{channelName(directory, place.channelId)}</bdi>
              <span> › </span>
              <bdi>{topicName(place.topic)}</bdi>
            </>
          ) : (
            <bdi>{titleOf(directory, place)}</bdi>
          )}
        </span>
        <span className="senders">{more > 0 ? t('namesAndMore', { names, count: more }) : names}</span>
        <span className="counts">{unread > 0 && <UnreadCount of={unread} />}</span>
        <time dateTime={at.toISOString()}>
          {at.toDateString() === today ? timeFormat.format(at) : dayFormat.format(at)}
        </time>
      </PageLink>
    </li>
  );
});
