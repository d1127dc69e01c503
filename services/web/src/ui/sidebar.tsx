import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Channel } from '../state/members.ts';
import type { Model } from '../state/model.ts';
import { directPlace, keyOf, type Narrow, topicPlace } from '../state/place.ts';
import { AccountMenu } from './account-menu.tsx';
import { linkTo } from './links.ts';
import { countUnread, peopleNames, topicName } from './names.ts';
import { useSelected, useSession } from './session-context.tsx';

const shownTopics = 8;
const shownConversations = 12;
const shownPeople = 50;

export function Sidebar({ onClose }: { onClose: () => void }) {
  const model = useSelected((state) => state.model);
  const total = countUnread(model, () => true);
  const channels = [...model.channels.values()].sort(
    (a, b) => Number(b.isPinned) - Number(a.isPinned) || a.name.localeCompare(b.name),
  );
  return (
    <nav className="sidebar" aria-label="Conversations" onKeyDown={(event) => event.key === 'Escape' && onClose()}>
      <header>
        <strong className="realm">{model.realmName}</strong>
        <AccountMenu />
      </header>
      <div className="sections">
        <ul>
          <li>
            <PageLink to="/inbox" label="Inbox" unread={total} />
          </li>
          <Entry narrow={{ kind: 'all' }} label="Recent conversations" unread={0} />
          <Entry narrow={{ kind: 'feed' }} label="Combined feed" unread={0} />
          <Entry narrow={{ kind: 'mentions' }} label="Mentions" unread={model.marks.mentions.size} />
          <Entry narrow={{ kind: 'starred' }} label="Starred messages" unread={0} />
          <li>
            <PageLink to="/search" label="Search" unread={0} />
          </li>
        </ul>
        <h2>Direct messages</h2>
        <Direct model={model} />
        <h2>Channels</h2>
        {channels.length === 0 && <p className="hint">You are subscribed to no channels.</p>}
        <ul>
          {channels.map((channel) => (
            <ChannelEntry key={channel.id} model={model} channel={channel} />
          ))}
        </ul>
      </div>
    </nav>
  );
}

interface EntryProps {
  narrow: Narrow;
  label: string;
  unread: number;
  color?: string;
  isMuted?: boolean;
}

function Entry({ narrow, label, unread, color, isMuted = false }: EntryProps) {
  return (
    <li data-muted={isMuted}>
      <EntryLink narrow={narrow} label={label} unread={unread} {...(color === undefined ? {} : { color })} />
    </li>
  );
}

function EntryLink({ narrow, label, unread, color }: EntryProps) {
  return (
    <Link {...linkTo(narrow)} className="entry" activeOptions={exactly} title={label}>
      {color !== undefined && <span className="hash" aria-hidden="true" style={{ background: color }} />}
      <Label label={label} unread={unread} />
    </Link>
  );
}

const exactly = { exact: true, includeSearch: false };

function PageLink({ to, label, unread }: { to: '/inbox' | '/search'; label: string; unread: number }) {
  return (
    <Link to={to} className="entry" activeOptions={exactly}>
      <Label label={label} unread={unread} />
    </Link>
  );
}

function Label({ label, unread }: { label: string; unread: number }) {
  return (
    <>
      <span className="label">{label}</span>
      {unread > 0 && (
        <span className="count">
          {unread}
          <span className="hidden"> unread</span>
        </span>
      )}
    </>
  );
}

function Direct({ model }: { model: Model }) {
  const recent = [...model.direct.values()].sort((a, b) => b.newest - a.newest).slice(0, shownConversations);
  return (
    <>
      <ul>
        {recent.map(({ place }) =>
          place.kind === 'direct' ? (
            <Entry
              key={keyOf(place)}
              narrow={place}
              label={peopleNames(model, place.userIds)}
              unread={countUnread(model, (one) => keyOf(one) === keyOf(place))}
            />
          ) : null,
        )}
      </ul>
      <People model={model} />
    </>
  );
}

/** Everybody to whom a message can be written. */
function People({ model }: { model: Model }) {
  const [filter, setFilter] = useState('');
  const found = [...model.people.values()]
    .filter(({ isActive, isBot, name }) => isActive && !isBot && name.toLowerCase().includes(filter.toLowerCase()))
    .sort((a, b) => a.name.localeCompare(b.name));
  return (
    <details className="people">
      <summary>New direct message</summary>
      <input
        type="search"
        aria-label="Find people"
        placeholder="Find people"
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      <ul>
        {found.slice(0, shownPeople).map(({ id }) => {
          const place = directPlace([id], model.ownId);
          return place.kind === 'direct' ? (
            <Entry key={id} narrow={place} label={peopleNames(model, place.userIds)} unread={0} />
          ) : null;
        })}
      </ul>
      {found.length === 0 && <p className="hint">Nobody has such a name.</p>}
      {found.length > shownPeople && <p className="hint">{found.length - shownPeople} more: type a name.</p>}
    </details>
  );
}

function ChannelEntry({ model, channel }: { model: Model; channel: Channel }) {
  const [isOpen, setOpen] = useState(false);
  const unread = countUnread(model, (place) => place.kind === 'topic' && place.channelId === channel.id);
  return (
    <li data-muted={channel.isMuted}>
      <div className="channel">
        <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
          <span className="hidden">Topics of {channel.name}</span>
        </button>
        <EntryLink
          narrow={{ kind: 'channel', channelId: channel.id }}
          label={channel.name}
          unread={unread}
          color={channel.color}
        />
      </div>
      {isOpen && <Topics model={model} channel={channel} />}
    </li>
  );
}

/** The topics with the newest messages, and those with unread ones. */
function Topics({ model, channel }: { model: Model; channel: Channel }) {
  const session = useSession();
  const [known, setKnown] = useState<string[]>();
  // The newest message of the channel that arrived: topics are asked again after it.
  const newest = useSelected(({ views }) => views.get(keyOf({ kind: 'channel', channelId: channel.id }))?.ids.at(-1));
  useEffect(() => {
    let isCurrent = true;
    session.topicsOf(channel.id).then(
      (topics) => isCurrent && setKnown(topics.map(({ name }) => name)),
      () => isCurrent && setKnown([]),
    );
    return () => {
      isCurrent = false;
    };
  }, [session, channel.id, newest]);
  const unread = [...model.unread.values()].flatMap(({ place }) =>
    place.kind === 'topic' && place.channelId === channel.id ? [place.topic] : [],
  );
  const topics = new Map(
    [...(known ?? []).slice(0, shownTopics), ...unread].map((topic) => [keyOf(topicPlace(channel.id, topic)), topic]),
  );
  if (topics.size === 0) return <p className="hint">{known ? 'No topics yet.' : 'Loading…'}</p>;
  return (
    <ul className="topics">
      {[...topics].map(([key, topic]) => (
        <Entry
          key={key}
          narrow={topicPlace(channel.id, topic)}
          label={topicName(topic)}
          unread={model.unread.get(key)?.ids.size ?? 0}
        />
      ))}
    </ul>
  );
}
