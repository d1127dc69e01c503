import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { findChannels, findPartners } from '../state/completion.ts';
import { directPlace, keyOf, type Narrow, topicPlace } from '../state/place.ts';
import { topicRule } from '../state/writing.ts';
import { t } from '../text/text.ts';
import { ComboField } from './combo-field.tsx';
import { composeIn } from './compose-text.ts';
import { linkTo } from './links.ts';
import { Modal } from './modal.tsx';
import { personName } from './names.ts';
import { closeDialog } from './open-dialog.ts';
import { useSelected, useSession } from './session-context.tsx';
import { TopicInput } from './topic-input.tsx';

/** Chooses the conversation of a new message, and leads there. A text is put into the compose box. */
export default function NewMessage({ text }: { text: string | undefined }) {
  const [kind, setKind] = useState<'channel' | 'direct'>('channel');
  const navigate = useNavigate();
  const session = useSession();
  const go = (narrow: Narrow): void => {
    closeDialog();
    const { shown } = session;
    if (text !== undefined) {
      const isShown = shown !== undefined && keyOf(shown.narrow) === keyOf(narrow);
      // The compose box takes the focus when the dialog has gone.
      if (isShown) setTimeout(() => composeIn(keyOf(narrow), text, true));
      else composeIn(keyOf(narrow), text, false);
    }
    void navigate(linkTo(narrow));
  };
  return (
    <Modal title={text === undefined ? t('newMessage') : t('forwardTheMessage')}>
      <fieldset className="tabs">
        <legend className="hidden">{t('kindOfMessage')}</legend>
        {(['channel', 'direct'] as const).map((one) => (
          <label key={one}>
            <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} />
            {one === 'channel' ? t('inAChannel') : t('directMessage')}
          </label>
        ))}
      </fieldset>
      {kind === 'channel' ? <ToChannel onGo={go} /> : <ToPeople onGo={go} />}
    </Modal>
  );
}

interface ToProps {
  onGo: (narrow: Narrow) => void;
}

function ToChannel({ onGo }: ToProps) {
  const model = useSelected((state) => state.model);
  const [query, setQuery] = useState('');
  const [channelId, setChannelId] = useState<number>();
  const [topic, setTopic] = useState('');
  const found = findChannels(query, model).map(({ id, name }) => ({
    key: String(id),
    label: `#${name}`,
    detail: '',
    insert: name,
  }));
  const rule = channelId === undefined ? undefined : topicRule(model.writing, channelId);
  const isMissing = topic.trim() === '' && rule === 'disable_empty_topic';
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (channelId !== undefined && !isMissing) onGo(topicPlace(channelId, topic.trim()));
      }}
    >
      <ComboField
        label={t('channel')}
        list={t('channels')}
        value={query}
        found={found}
        onChange={(text) => {
          setQuery(text);
          setChannelId(undefined);
        }}
        onChoose={({ key, insert }) => {
          setQuery(insert);
          setChannelId(Number(key));
        }}
      />
      {channelId !== undefined && rule !== 'empty_topic_only' && (
        <TopicInput
          channelId={channelId}
          value={topic}
          placeholder={rule === 'disable_empty_topic' ? t('required') : t('generalChat')}
          onChange={setTopic}
        />
      )}
      <button type="submit" className="primary" disabled={channelId === undefined || isMissing}>
        {t('write')}
      </button>
    </form>
  );
}

function ToPeople({ onGo }: ToProps) {
  const model = useSelected((state) => state.model);
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const found = findPartners(query, { model }, 8 + chosen.length)
    .filter(({ id }) => !chosen.includes(id))
    .slice(0, 8)
    .map(({ id, name, isBot }) => ({ key: String(id), label: name, detail: isBot ? t('bot') : '', insert: name }));
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen.length > 0) onGo(directPlace(chosen, model.ownId));
      }}
    >
      <ul className="chips" aria-label={t('recipients')}>
        {chosen.map((id) => (
          <li key={id}>
            <bdi>{personName(model, id)}</bdi>
            <button type="button" onClick={() => setChosen(chosen.filter((one) => one !== id))}>
              <span aria-hidden="true">✕</span>
              <span className="hidden">{t('removeName', { name: personName(model, id) })}</span>
            </button>
          </li>
        ))}
      </ul>
      <ComboField
        label={t('recipient')}
        list={t('people')}
        value={query}
        found={found}
        onChange={setQuery}
        onChoose={({ key }) => {
          setChosen([...chosen, Number(key)]);
          setQuery('');
        }}
      />
      <button type="submit" className="primary" disabled={chosen.length === 0}>
        {t('write')}
      </button>
    </form>
  );
}
