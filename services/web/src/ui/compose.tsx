import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Model } from '../state/model.ts';
import { deactivatedOf, type PostingProblem, postingProblem } from '../state/permissions.ts';
import { keyOf, type Place, topicPlace } from '../state/place.ts';
import { topicRule } from '../state/writing.ts';
import { listText, t } from '../text/text.ts';
import { Editor } from './compose-editor.tsx';
import { TopicInput } from './topic-input.tsx';
import './compose.css';
import { linkTo } from './links.ts';
import { personName } from './names.ts';
import { useSelected, useSession } from './session-context.tsx';

export function Compose({ place, label }: { place: Place; label: string }) {
  const session = useSession();
  const rule = useSelected(({ model }) =>
    place.kind === 'topic' ? topicRule(model.writing, place.channelId) : undefined,
  );
  const topicProblem =
    place.kind !== 'topic'
      ? undefined
      : place.topic === '' && rule === 'disable_empty_topic'
        ? t('messagesInThisChannelNeedATopic')
        : place.topic !== '' && rule === 'empty_topic_only'
          ? t('thisChannelHasNoTopicsBesideGeneral')
          : undefined;
  const send = (content: string): void => session.send(place, content);
  return (
    <Editor
      draftKey={keyOf(place)}
      place={place}
      label={label}
      onSend={send}
      problem={topicProblem}
      barrier={useBarrier(place)}
      isFocused
    />
  );
}

const barriers: Record<Exclude<PostingProblem, 'deactivated'>, string> = {
  channel: t('youMayNotSendMessagesInThisChannel'),
  'direct disabled': t('directMessagesAreDisabled'),
  'direct unauthorized': t('nobodyHereMayTakePartInDirectMessages'),
  'direct new': t('youMayNotBeginDirectConversations'),
};

/** The reason why the reader may not write in a conversation. */
function useBarrier(place: Place): string | undefined {
  return useSelected(({ model, views }) => {
    const key = keyOf(place);
    const view = views.get(key);
    const isEmpty = view?.ids.length === 0 && view.hasOldest && view.hasNewest;
    const problem = postingProblem(model, place, isEmpty && !model.direct.has(key));
    return problem === 'deactivated' ? deactivatedText(model, place) : problem && barriers[problem];
  });
}

function deactivatedText({ people, ownId }: Model, place: Place): string {
  const others = place.kind === 'direct' ? place.userIds.filter((id) => id !== ownId) : [];
  const names = listText(deactivatedOf(people, others).map((id) => personName({ people }, id)));
  return others.length === 1
    ? t('theAccountOfIsDeactivated', { name: names })
    : t('deactivatedAccountsHere', { names });
}

/** Begins a topic, and leads to it. */
export function NewTopic({ channelId }: { channelId: number }) {
  const session = useSession();
  const navigate = useNavigate();
  const rule = useSelected(({ model }) => topicRule(model.writing, channelId));
  const [topic, setTopic] = useState(() => session.topics.get(channelId));
  const choose = (next: string): void => {
    session.topics.keep(channelId, next);
    setTopic(next);
  };
  const target = topicPlace(channelId, topic.trim());
  const barrier = useBarrier(target);
  const send = (content: string): void => {
    session.send(target, content);
    choose('');
    void navigate(linkTo(target));
  };
  const isMissing = topic.trim() === '' && rule === 'disable_empty_topic';
  return (
    <div className="new-topic">
      {rule !== 'empty_topic_only' && (
        <TopicInput
          channelId={channelId}
          value={topic}
          placeholder={rule === 'disable_empty_topic' ? t('required') : t('generalChat')}
          onChange={choose}
        />
      )}
      <Editor
        draftKey={keyOf({ kind: 'channel', channelId })}
        place={undefined}
        target={target}
        label={t('messageOfANewTopic')}
        onSend={send}
        problem={isMissing ? t('messagesInThisChannelNeedATopic') : undefined}
        barrier={barrier}
      />
    </div>
  );
}
