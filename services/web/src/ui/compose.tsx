import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { keyOf, type Place, topicPlace } from '../state/place.ts';
import { linkTo } from './links.ts';
import { useSession } from './session-context.tsx';

const maxTopic = 60;

/** A text that survives reloads until it is sent. */
function useDraft(key: string): [string, (text: string) => void] {
  const name = `natter draft ${key}`;
  const [text, setText] = useState(() => localStorage.getItem(name) ?? '');
  const keep = (next: string): void => {
    setText(next);
    if (next === '') localStorage.removeItem(name);
    else localStorage.setItem(name, next);
  };
  return [text, keep];
}

export function Compose({ place, label }: { place: Place; label: string }) {
  const session = useSession();
  const send = (content: string): void => session.send(place, content);
  return <Editor draft={`${session.state.model.ownId} ${keyOf(place)}`} label={label} onSend={send} isFocused />;
}

/** Begins a topic, and leads to it. */
export function NewTopic({ channelId }: { channelId: number }) {
  const session = useSession();
  const navigate = useNavigate();
  const [topic, setTopic] = useState('');
  const send = (content: string): void => {
    const place = topicPlace(channelId, topic.trim());
    session.send(place, content);
    void navigate(linkTo(place));
  };
  return (
    <div className="new-topic">
      <label>
        Topic
        <input value={topic} maxLength={maxTopic} onChange={(event) => setTopic(event.target.value)} />
      </label>
      <Editor
        draft={`${session.state.model.ownId} channel:${channelId}`}
        label="Message of a new topic"
        onSend={send}
        isBlocked={topic.trim() === ''}
      />
    </div>
  );
}

interface EditorProps {
  draft: string;
  label: string;
  onSend: (content: string) => void;
  isBlocked?: boolean;
  isFocused?: boolean;
}

function Editor({ draft, label, onSend, isBlocked = false, isFocused = false }: EditorProps) {
  const [text, setText] = useDraft(draft);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On phones, a focused box opens the keyboard over the messages.
    if (isFocused && matchMedia('(hover: hover)').matches) box.current?.focus({ preventScroll: true });
  }, [isFocused]);
  const isEmpty = text.trim() === '';
  const submit = (): void => {
    if (isEmpty || isBlocked) return;
    onSend(text);
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form
      className="compose"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        ref={box}
        id="compose"
        aria-label={label}
        placeholder={label}
        rows={Math.min(10, Math.max(1, text.split('\n').length))}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" disabled={isEmpty || isBlocked}>
        Send
      </button>
    </form>
  );
}
