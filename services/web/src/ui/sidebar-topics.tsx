import { useEffect, useState } from 'react';
import type { Channel } from '../state/members.ts';
import { isMuted, policyOf, topicPolicies } from '../state/model.ts';
import { keyOf, type Place, topicPlace } from '../state/place.ts';
import { t } from '../text/text.ts';
import { topicName } from './names.ts';
import { useSelected, useSession } from './session-context.tsx';
import { EntryLink } from './sidebar-entry.tsx';
import { TopicMenu } from './topic-menu.tsx';

const shownTopics = 8;

/** The topics with the newest messages, and those with unread ones. */
export function Topics({ channel }: { channel: Channel }) {
  const session = useSession();
  const unreadPlaces = useSelected(({ model }) => model.unread);
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
  const unread = [...unreadPlaces.values()].flatMap(({ place }) =>
    place.kind === 'topic' && place.channelId === channel.id ? [place.topic] : [],
  );
  const topics = new Map(
    [...(known ?? []).slice(0, shownTopics), ...unread].map((topic) => [keyOf(topicPlace(channel.id, topic)), topic]),
  );
  if (topics.size === 0) return <p className="hint">{known ? t('noTopicsYet') : t('loading')}</p>;
  return (
    <ul className="topics">
      {[...topics].map(([key, topic]) => (
        <TopicEntry key={key} place={topicPlace(channel.id, topic)} unread={unreadPlaces.get(key)?.ids.size ?? 0} />
      ))}
    </ul>
  );
}

/** The followed topics of all channels. */
export function Followed() {
  const channels = useSelected(({ model }) => model.channels);
  const followed = useSelected(({ model }) => model.followed);
  const unread = useSelected(({ model }) => model.unread);
  const shown = [...followed].filter(([, place]) => place.kind === 'topic' && channels.has(place.channelId));
  if (shown.length === 0) return null;
  return (
    <>
      <h2 id="followed">{t('followedTopics')}</h2>
      <ul aria-labelledby="followed">
        {shown.map(([key, place]) => (
          <TopicEntry key={key} place={place} unread={unread.get(key)?.ids.size ?? 0} hasChannel />
        ))}
      </ul>
    </>
  );
}

interface TopicEntryProps {
  place: Place;
  unread: number;
  /** Whether the channel is named, too. */
  hasChannel?: boolean;
}

function TopicEntry({ place, unread, hasChannel = false }: TopicEntryProps) {
  const isFollowed = useSelected(({ model }) => policyOf(model, place) === topicPolicies.followed);
  const isQuiet = useSelected(({ model }) => isMuted(model, place));
  const channels = useSelected(({ model }) => model.channels);
  if (place.kind !== 'topic') return null;
  const channel = hasChannel ? channels.get(place.channelId) : undefined;
  const state = isFollowed ? t('followedHint') : isQuiet ? t('mutedHint') : undefined;
  const hint = channel ? `#${channel.name}` : state;
  return (
    <li className="channel" data-muted={isQuiet}>
      <EntryLink
        narrow={place}
        label={topicName(place.topic)}
        unread={unread}
        {...(channel ? { color: channel.color } : {})}
        {...(hint === undefined ? {} : { hint })}
      />
      <TopicMenu place={place} />
    </li>
  );
}
