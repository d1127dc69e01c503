import { memo, useEffect, useMemo, useState } from 'react';
import { NewestTopics } from '../session/newest-topics.ts';
import type { Channel } from '../state/members.ts';
import { isMuted, policyOf, topicPolicies } from '../state/model.ts';
import { keyOf, topicPlace } from '../state/place.ts';
import { t } from '../text/text.ts';
import { topicName } from './names.ts';
import { Phrase } from './phrase.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { EntryLink } from './sidebar-entry.tsx';
import { TopicMenu } from './topic-menu.tsx';
import { newestUnread } from './unread-places.ts';

const newestShown = 8;
/** Further topics, with unread messages or followed, that are shown at once. */
const shownAtOnce = 30;

/** The topics with the newest messages, and the topics with unread ones. */
export function Topics({ channel: { id: channelId, name } }: { channel: Channel }) {
  const unread = useSelected(({ model }) => model.unread);
  const { known, problem } = useNewestTopics(channelId);
  const [most, setMost] = useState(shownAtOnce);
  const { topics, hasMore } = useMemo(() => {
    const newest = new Map((known ?? []).map((topic) => [keyOf(topicPlace(channelId, topic)), topic]));
    const others = newestUnread(
      unread,
      most,
      (place, key) => place.kind === 'topic' && place.channelId === channelId && !newest.has(key),
    );
    const unreadTopics = others.shown.flatMap(({ key, place }) =>
      place.kind === 'topic' ? [[key, place.topic] as const] : [],
    );
    return { topics: [...newest, ...unreadTopics], hasMore: others.hasMore };
  }, [known, unread, channelId, most]);
  if (topics.length === 0) return <p className="hint">{known ? t('noTopicsYet') : (problem ?? t('loading'))}</p>;
  return (
    <ul className="topics">
      {topics.map(([key, topic]) => (
        <TopicEntry
          key={key}
          placeKey={key}
          channelId={channelId}
          topic={topic}
          unread={unread.get(key)?.ids.size ?? 0}
        />
      ))}
      {hasMore && <More full={t('showMoreTopicsOf', { channel: name })} onClick={() => setMost(most + shownAtOnce)} />}
    </ul>
  );
}

function useNewestTopics(channelId: number) {
  const session = useSession();
  // A new snapshot has new rules. Events before it are missing.
  const snapshot = useSelected(({ model }) => model.rules);
  const [topics, setTopics] = useState<NewestTopics>();
  const [found, setFound] = useState<{ known?: readonly string[] | undefined; problem?: string | undefined }>({});
  useEffect(() => {
    const own = new NewestTopics({
      channelId,
      size: newestShown,
      ask: async (signal) => {
        const params = { stream_id: channelId, allow_empty_topic_name: true };
        return (await session.client.getTopics(params, { signal })).topics;
      },
      onChange: (known, problem) => setFound({ known, problem }),
    });
    setTopics(own);
    const unfollow = session.onEvent((event) => own.arrived(event));
    return () => {
      unfollow();
      own.stop();
    };
  }, [session, channelId]);
  useEffect(() => topics?.askSoon(), [snapshot]);
  return found;
}

/** The followed topics of all channels. */
export function Followed() {
  const channels = useSelected(({ model }) => model.channels);
  const followed = useSelected(({ model }) => model.followed);
  const unread = useSelected(({ model }) => model.unread);
  const [most, setMost] = useState(shownAtOnce);
  const topics = useMemo(
    () =>
      [...followed].flatMap(([key, place]) =>
        place.kind === 'topic' && channels.has(place.channelId) ? [{ key, place }] : [],
      ),
    [followed, channels],
  );
  if (topics.length === 0) return null;
  return (
    <>
      <h2 id="followed">{t('followedTopics')}</h2>
      <ul aria-labelledby="followed">
        {topics.slice(0, most).map(({ key, place: { channelId, topic } }) => (
          <TopicEntry
            key={key}
            placeKey={key}
            channelId={channelId}
            topic={topic}
            unread={unread.get(key)?.ids.size ?? 0}
            hasChannel
          />
        ))}
        {topics.length > most && (
          <More full={t('showMoreFollowedTopics')} onClick={() => setMost(most + shownAtOnce)} />
        )}
      </ul>
    </>
  );
}

function More({ full, onClick }: { full: string; onClick: () => void }) {
  return (
    <li>
      <button type="button" className="section" onClick={onClick}>
        <Phrase short={t('showMore')} full={full} />
      </button>
    </li>
  );
}

interface TopicEntryProps {
  placeKey: string;
  channelId: number;
  topic: string;
  unread: number;
  /** Whether the channel is named, too. */
  hasChannel?: boolean;
}

/** Drawn again only when the topic or its count changes: there may be hundreds. */
const TopicEntry = memo(function TopicEntry(props: TopicEntryProps) {
  const { placeKey, channelId, topic, unread, hasChannel = false } = props;
  const place = { kind: 'topic', channelId, topic } as const;
  const isFollowed = useSelected(({ model }) => policyOf(model, place, placeKey) === topicPolicies.followed);
  const isQuiet = useSelected(({ model }) => isMuted(model, place, placeKey));
  const channel = useSelected(({ model }) => (hasChannel ? model.channels.get(channelId) : undefined));
  const state = isFollowed ? t('followedHint') : isQuiet ? t('mutedHint') : undefined;
  const hint = channel ? `#${channel.name}` : state;
  return (
    <li className="channel" data-muted={isQuiet}>
      <EntryLink
        narrow={place}
        label={topicName(topic)}
        unread={unread}
        {...(channel ? { color: channel.color } : {})}
        {...(hint === undefined ? {} : { hint })}
      />
      <TopicMenu place={place} />
    </li>
  );
});
