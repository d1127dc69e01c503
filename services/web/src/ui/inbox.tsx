import { type MouseEvent, memo, useEffect, useMemo, useState } from 'react';
import { isMuted } from '../state/model.ts';
import type { Place } from '../state/place.ts';
import { t } from '../text/text.ts';
import { channelName, type Directory, peopleNames, topicName } from './names.ts';
import { PageLink } from './page-link.tsx';
import { usePageTitle } from './page-title.ts';
import { UnreadCount } from './phrase.tsx';
import { useDirectory, useSelected, useSession } from './session-context.tsx';
import { newestUnread, type UnreadPlace } from './unread-places.ts';

const shownAtOnce = 300;

interface Group {
  key: string;
  title: string;
  color: string | undefined;
  entries: UnreadPlace[];
}

/** Unread conversations: direct ones first, then topics by channel. */
function groupsOf(directory: Directory, shown: readonly UnreadPlace[]): Group[] {
  const groups = new Map<string, Group>();
  for (const entry of shown) {
    const { place } = entry;
    const isTopic = place.kind === 'topic';
    const key = isTopic ? `channel:${place.channelId}` : 'direct';
    const group = groups.get(key) ?? {
      key,
      title: isTopic ? `#${channelName(directory, place.channelId)}` : t('directMessages'),
      color: isTopic ? directory.channels.get(place.channelId)?.color : undefined,
      entries: [],
    };
    group.entries.push(entry);
    groups.set(key, group);
  }
  return [...groups.values()].sort(
    (a, b) => Number(b.key === 'direct') - Number(a.key === 'direct') || a.title.localeCompare(b.title),
  );
}

/** The conversations with the newest unread messages. Muted ones are left out. */
function useUnread(most: number) {
  const directory = useDirectory();
  const unread = useSelected(({ model }) => model.unread);
  const policies = useSelected(({ model }) => model.policies);
  return useMemo(() => {
    const muting = { ...directory, policies };
    const { shown, hasMore } = newestUnread(unread, most, (place, key) => !isMuted(muting, place, key));
    return { groups: groupsOf(directory, shown), hasMore };
  }, [directory, unread, policies, most]);
}

export function InboxPage() {
  const session = useSession();
  const directory = useDirectory();
  const mentions = useSelected(({ model }) => model.marks.mentions);
  const [most, setMost] = useState(shownAtOnce);
  const { groups, hasMore } = useUnread(most);
  useEffect(() => {
    session.shown = undefined;
  }, [session]);
  usePageTitle(t('inbox'));
  return (
    <main className="conversation">
      <h1 tabIndex={-1}>{t('inbox')}</h1>
      <div className="page">
        {groups.length === 0 && (
          <div className="empty">
            <p>{t('youHaveReadEverything')}</p>
            <PageLink to="/recent">{t('seeRecentConversations')}</PageLink>
          </div>
        )}
        {groups.map(({ key, title, color, entries }) => (
          <section key={key} className="inbox-group" aria-label={title}>
            <h2 style={{ borderColor: color }}>{title}</h2>
            <ul>
              {entries.map(({ key: placeKey, place, ids }) => (
                <Line
                  key={placeKey}
                  place={place}
                  label={place.kind === 'topic' ? topicName(place.topic) : peopleNames(directory, place.userIds)}
                  ids={ids}
                  isMentioned={[...ids].some((id) => mentions.has(id))}
                />
              ))}
            </ul>
          </section>
        ))}
        {hasMore && (
          <p className="more">
            <button type="button" onClick={() => setMost(most + shownAtOnce)}>
              {t('showMore')}
            </button>
          </p>
        )}
      </div>
    </main>
  );
}

interface LineProps {
  place: Place;
  label: string;
  ids: ReadonlySet<number>;
  isMentioned: boolean;
}

/** The entry of a button will disappear: the focus goes to the button of the next one, or to the heading. */
function leadFocusOn(button: HTMLElement): void {
  // Marks the button, because the focus must not move to an entry that will disappear too.
  button.dataset.isDone = 'true';
  if (document.activeElement !== button) return;
  const page = button.closest('main');
  const buttons = [...(page?.querySelectorAll<HTMLElement>('.conversation-line > button') ?? [])];
  const at = buttons.indexOf(button);
  const stays = ({ dataset }: HTMLElement): boolean => dataset.isDone === undefined;
  const next = buttons.slice(at).find(stays) ?? buttons.findLast(stays) ?? page?.querySelector<HTMLElement>('h1');
  next?.focus();
}

/** Drawn again only when this conversation changes: an event seldom changes more than one. */
const Line = memo(function Line({ place, label, ids, isMentioned }: LineProps) {
  const session = useSession();
  const markRead = ({ currentTarget }: MouseEvent<HTMLElement>): void => {
    leadFocusOn(currentTarget);
    void session.actions.markRead([...ids].sort((a, b) => a - b));
  };
  return (
    <li className="conversation-line">
      <PageLink to={place} className="entry">
        <span className="label">{label}</span>
        {isMentioned && (
          <span className="mentioned" title={t('youAreMentioned')}>
            @<span className="hidden"> {t('youAreMentioned')}</span>
          </span>
        )}
        <UnreadCount of={ids.size} />
      </PageLink>
      <button type="button" title={t('markAsRead')} onClick={markRead}>
        <span aria-hidden="true">✓</span>
        <span className="hidden">{t('markNameAsRead', { name: label })}</span>
      </button>
    </li>
  );
});
