import { useMemo, useState } from 'react';
import { directPlace, keyOf, type Place } from '../state/place.ts';
import { locale, t } from '../text/text.ts';
import { AccountMenu } from './account-menu.tsx';
import { type Directory, peopleNames, unreadCounts, unreadMentions } from './names.ts';
import { SearchField } from './search-field.tsx';
import { useDirectory, useSelected } from './session-context.tsx';
import { Channels } from './sidebar-channels.tsx';
import { Entry, PageEntry } from './sidebar-entry.tsx';
import { Followed } from './sidebar-topics.tsx';
import { WritingEntries } from './sidebar-writing.tsx';

const shownConversations = 12;
const shownPeople = 50;

export function Sidebar({ onClose }: { onClose: () => void }) {
  const realmName = useSelected(({ model }) => model.realmName);
  const mentions = useSelected(({ model }) => unreadMentions(model));
  const unread = useSelected(({ model }) => unreadCounts(model));
  return (
    <nav className="sidebar" aria-label={t('conversations')} onKeyDown={(event) => event.key === 'Escape' && onClose()}>
      <header>
        <strong className="realm">{realmName}</strong>
        <AccountMenu />
      </header>
      <div className="sections">
        <ul>
          <li>
            <PageEntry to="/inbox" label={t('inbox')} unread={unread.total} />
          </li>
          <Entry narrow={{ kind: 'all' }} label={t('recentConversations')} unread={0} />
          <Entry narrow={{ kind: 'feed' }} label={t('combinedFeed')} unread={0} />
          <Entry narrow={{ kind: 'mentions' }} label={t('mentions')} unread={mentions} />
          <Entry narrow={{ kind: 'starred' }} label={t('starredMessages')} unread={0} />
          <WritingEntries />
          <li>
            <PageEntry to="/search" label={t('search')} unread={0} />
          </li>
        </ul>
        <h2>{t('directMessages')}</h2>
        <Direct />
        <Followed />
        <Channels unread={unread.byChannel} />
      </div>
    </nav>
  );
}

const { compare } = new Intl.Collator(locale);
const byName = (a: { name: string }, b: { name: string }): number => compare(a.name, b.name);

/** The only other person of a conversation. */
const soleOf = (place: Place): number | undefined =>
  place.kind === 'direct' && place.userIds.length === 1 ? place.userIds[0] : undefined;

/** The person whose presence is shown: not of the reader, and not of bots. */
function personOf({ ownId, people }: Directory, place: Place): number | undefined {
  const id = soleOf(place);
  return id === undefined || id === ownId || people.get(id)?.isBot ? undefined : id;
}

function Direct() {
  const directory = useDirectory();
  const direct = useSelected(({ model }) => model.direct);
  const unread = useSelected(({ model }) => model.unread);
  const muted = useSelected(({ model }) => model.muted);
  const recent = [...direct.values()]
    .filter(({ place }) => soleOf(place) === undefined || !muted.has(soleOf(place) ?? 0))
    .sort((a, b) => b.newest - a.newest)
    .slice(0, shownConversations);
  return (
    <>
      <ul>
        {recent.map(({ place }) =>
          place.kind === 'direct' ? (
            <Entry
              key={keyOf(place)}
              narrow={place}
              label={peopleNames(directory, place.userIds)}
              unread={unread.get(keyOf(place))?.ids.size ?? 0}
              userId={personOf(directory, place)}
            />
          ) : null,
        )}
      </ul>
      <People />
    </>
  );
}

/** Everybody who can receive a direct message. */
function People() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="people" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('newDirectMessage')}</summary>
      {isOpen && <FoundPeople />}
    </details>
  );
}

function FoundPeople() {
  const directory = useDirectory();
  const [filter, setFilter] = useState('');
  const all = useMemo(
    () =>
      [...directory.people.values()]
        .filter(({ id, isActive, isBot }) => isActive && !isBot && !directory.muted.has(id))
        .sort(byName),
    [directory],
  );
  const found = all.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      <SearchField label={t('findPeople')} text={filter} onChange={setFilter} />
      <ul>
        {found.slice(0, shownPeople).map(({ id }) => {
          const place = directPlace([id], directory.ownId);
          return place.kind === 'direct' ? (
            <Entry
              key={id}
              narrow={place}
              label={peopleNames(directory, place.userIds)}
              unread={0}
              userId={personOf(directory, place)}
            />
          ) : null;
        })}
      </ul>
      {found.length === 0 && <p className="hint">{t('nobodyHasSuchAName')}</p>}
      {found.length > shownPeople && (
        <p className="hint">{t('moreTypeAName', { count: found.length - shownPeople })}</p>
      )}
    </>
  );
}
