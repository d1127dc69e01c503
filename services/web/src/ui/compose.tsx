import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { keyOf, type Place, topicPlace } from '../state/place.ts';
import { topicRule } from '../state/writing.ts';
import { t } from '../text/text.ts';
import { Editor } from './compose-editor.tsx';
import { TopicInput } from './topic-input.tsx';
import './compose.css';
import { linkTo } from './links.ts';
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
  return <Editor draftKey={keyOf(place)} place={place} label={label} onSend={send} problem={topicProblem} isFocused />;
}

/** Begins a topic, and leads to it. */
export function NewTopic({ channelId }: { channelId: number }) {
  const session = useSession();
  const navigate = useNavigate();
  const rule = useSelected(({ model }) => topicRule(model.writing, channelId));
  const [topic, setTopic] = useState('');
  const send = (content: string): void => {
    const place = topicPlace(channelId, topic.trim());
    session.send(place, content);
    void navigate(linkTo(place));
  };
  const isMissing = topic.trim() === '' && rule === 'disable_empty_topic';
  return (
    <div className="new-topic">
      {rule !== 'empty_topic_only' && (
        <TopicInput
          channelId={channelId}
          value={topic}
          placeholder={rule === 'disable_empty_topic' ? t('required') : t('generalChat')}
          onChange={setTopic}
        />
      )}
      <Editor
        draftKey={keyOf({ kind: 'channel', channelId })}
        place={undefined}
        target={topicPlace(channelId, topic.trim())}
        label={t('messageOfANewTopic')}
        onSend={send}
        problem={isMissing ? t('messagesInThisChannelNeedATopic') : undefined}
      />
    </div>
  );
}
