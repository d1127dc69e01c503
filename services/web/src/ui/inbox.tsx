import { useEffect } from 'react';
import { isMuted, type Model } from '../state/model.ts';
import { keyOf, type Place } from '../state/place.ts';
import { t } from '../text/text.ts';
import { channelName, peopleNames, topicName } from './names.ts';
import { PageLink } from './page-link.tsx';
import { usePageTitle } from './page-title.ts';
import { UnreadCount } from './phrase.tsx';
import { useSelected, useSession } from './session-context.tsx';

interface Group {
  key: string;
  title: string;
  color: string | undefined;
  entries: { place: Place; label: string; ids: readonly number[]; newest: number }[];
}

/** Unread conversations by channel, and those with people first. Muted ones are left out. */
function groupsOf(model: Model): Group[] {
  const groups = new Map<string, Group>();
  for (const [placeKey, { place, ids: unread }] of model.unread) {
    if (isMuted(model, place, placeKey)) continue;
    const isTopic = place.kind === 'topic';
    const key = isTopic ? `channel:${place.channelId}` : 'direct';
    const group = groups.get(key) ?? {
      key,
      title: isTopic ? `#${channelName(model, place.channelId)}` : t('directMessages'),
      color: isTopic ? model.channels.get(place.channelId)?.color : undefined,
      entries: [],
    };
    const ids = [...unread].sort((a, b) => a - b);
    const label = isTopic ? topicName(place.topic) : peopleNames(model, place.userIds);
    group.entries.push({ place, label, ids, newest: ids.at(-1) ?? 0 });
    groups.set(key, group);
  }
  for (const { entries } of groups.values()) entries.sort((a, b) => b.newest - a.newest);
  return [...groups.values()].sort(
    (a, b) => Number(b.key === 'direct') - Number(a.key === 'direct') || a.title.localeCompare(b.title),
  );
}

export function InboxPage() {
  const session = useSession();
  const model = useSelected((state) => state.model);
  useEffect(() => {
    session.shown = undefined;
  }, [session]);
  usePageTitle(t('inbox'));
  const groups = groupsOf(model);
  return (
    <main className="conversation">
      <h1>{t('inbox')}</h1>
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
              {entries.map(({ place, label, ids }) => (
                <li key={keyOf(place)} className="conversation-line">
                  <PageLink to={place} className="entry">
                    <span className="label">{label}</span>
                    {ids.some((id) => model.marks.mentions.has(id)) && (
                      <span className="mentioned" title={t('youAreMentioned')}>
                        @<span className="hidden"> {t('youAreMentioned')}</span>
                      </span>
                    )}
                    <UnreadCount of={ids.length} />
                  </PageLink>
                  <button type="button" title={t('markAsRead')} onClick={() => void session.actions.markRead(ids)}>
                    <span aria-hidden="true">✓</span>
                    <span className="hidden">{t('markNameAsRead', { name: label })}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </main>
  );
}
