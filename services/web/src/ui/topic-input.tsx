import { useId, useState } from 'react';
import { findTopics } from '../state/completion.ts';
import { t } from '../text/text.ts';
import { useSelected } from './session-context.tsx';
import { comboboxProps, SuggestionList } from './suggestion-list.tsx';
import { useListKeys } from './use-list-keys.ts';
import { useTopics } from './use-suggestions.ts';

interface TopicInputProps {
  channelId: number;
  value: string;
  placeholder: string;
  onChange: (topic: string) => void;
}

/** The name of a topic, completed from existing topics. */
export function TopicInput({ channelId, value, placeholder, onChange }: TopicInputProps) {
  const id = useId();
  const inputId = useId();
  const maxLength = useSelected(({ model }) => model.writing.limits.topic);
  const [isFocused, setFocused] = useState(false);
  const topics = useTopics(isFocused ? channelId : undefined);
  const all = findTopics(value, topics)
    .filter((topic) => topic !== '' && topic !== value)
    .map((topic) => ({ key: topic, label: topic, detail: '', insert: topic }));
  const keys = useListKeys(isFocused ? all : [], ({ insert }) => onChange(insert));
  return (
    <div className="topic-input">
      <label htmlFor={inputId}>{t('topic')}</label>
      <span className="anchor">
        <input
          id={inputId}
          value={value}
          maxLength={maxLength}
          placeholder={placeholder}
          autoComplete="off"
          {...comboboxProps(id, keys.all.length > 0, keys.active)}
          onChange={(event) => {
            onChange(event.target.value);
            keys.open();
          }}
          onFocus={() => setFocused(true)}
          onBlur={() => setFocused(false)}
          onKeyDown={keys.onKeyDown}
        />
        {keys.all.length > 0 && (
          <SuggestionList id={id} label={t('topics')} all={keys.all} active={keys.active} onChoose={keys.choose} />
        )}
      </span>
    </div>
  );
}
