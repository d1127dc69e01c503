import { useMemo, useState } from 'react';
import { isMuted } from '../state/model.ts';
import { directPlace, keyOf } from '../state/place.ts';
import { AccountMenu } from './account-menu.tsx';
import { countUnread, peopleNames } from './names.ts';
import { useDirectory, useSelected } from './session-context.tsx';
import { Channels } from './sidebar-channels.tsx';
import { Entry, PageLink } from './sidebar-entry.tsx';
import { Followed } from './sidebar-topics.tsx';

const shownConversations = 12;
const shownPeople = 50;

export function Sidebar({ onClose }: { onClose: () => void }) {
  const realmName = useSelected(({ model }) => model.realmName);
  const mentions = useSelected(({ model }) => model.marks.mentions.size);
  const unread = useUnread();
  return (
    <nav className="sidebar" aria-label="Conversations" onKeyDown={(event) => event.key === 'Escape' && onClose()}>
      <header>
        <strong className="realm">{realmName}</strong>
        <AccountMenu />
      </header>
      <div className="sections">
        <ul>
          <li>
            <PageLink to="/inbox" label="Inbox" unread={unread.total} />
          </li>
          <Entry narrow={{ kind: 'all' }} label="Recent conversations" unread={0} />
          <Entry narrow={{ kind: 'feed' }} label="Combined feed" unread={0} />
          <Entry narrow={{ kind: 'mentions' }} label="Mentions" unread={mentions} />
          <Entry narrow={{ kind: 'starred' }} label="Starred messages" unread={0} />
          <li>
            <PageLink to="/search" label="Search" unread={0} />
          </li>
        </ul>
        <h2>Direct messages</h2>
        <Direct />
        <Followed />
        <Channels unread={unread.byChannel} />
      </div>
    </nav>
  );
}

const { compare } = new Intl.Collator();
const byName = (a: { name: string }, b: { name: string }): number => compare(a.name, b.name);

/** Unread messages in all, and by channel; those of muted places do not count. */
function useUnread(): { total: number; byChannel: ReadonlyMap<number, number> } {
  const unread = useSelected(({ model }) => model.unread);
  const channels = useSelected(({ model }) => model.channels);
  const policies = useSelected(({ model }) => model.policies);
  return useMemo(() => {
    const known = { unread, channels, policies };
    const byChannel = new Map<number, number>();
    for (const { place, ids } of unread.values())
      if (place.kind === 'topic' && !isMuted(known, place))
        byChannel.set(place.channelId, (byChannel.get(place.channelId) ?? 0) + ids.size);
    return { total: countUnread(known, () => true), byChannel };
  }, [unread, channels, policies]);
}

function Direct() {
  const directory = useDirectory();
  const direct = useSelected(({ model }) => model.direct);
  const unread = useSelected(({ model }) => model.unread);
  const recent = [...direct.values()].sort((a, b) => b.newest - a.newest).slice(0, shownConversations);
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
            />
          ) : null,
        )}
      </ul>
      <People />
    </>
  );
}

/** Everybody to whom a message can be written. */
function People() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="people" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>New direct message</summary>
      {isOpen && <FoundPeople />}
    </details>
  );
}

function FoundPeople() {
  const directory = useDirectory();
  const [filter, setFilter] = useState('');
  const all = useMemo(
    () => [...directory.people.values()].filter(({ isActive, isBot }) => isActive && !isBot).sort(byName),
    [directory],
  );
  const found = all.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      <input
        type="search"
        aria-label="Find people"
        placeholder="Find people"
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      <ul>
        {found.slice(0, shownPeople).map(({ id }) => {
          const place = directPlace([id], directory.ownId);
          return place.kind === 'direct' ? (
            <Entry key={id} narrow={place} label={peopleNames(directory, place.userIds)} unread={0} />
          ) : null;
        })}
      </ul>
      {found.length === 0 && <p className="hint">Nobody has such a name.</p>}
      {found.length > shownPeople && <p className="hint">{found.length - shownPeople} more: type a name.</p>}
    </>
  );
}
