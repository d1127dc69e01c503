import { type FormEvent, useCallback, useState } from 'react';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Field } from './field.tsx';
import { OrderButtons } from './order-buttons.tsx';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { useSession } from './session-context.tsx';
import { type Place, useOrderedList } from './use-ordered-list.ts';
import { useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
type Linkifier = Awaited<ReturnType<Client['getLinkifiers']>>['linkifiers'][number];
interface Texts {
  pattern: string;
  url_template: string;
}

/** Texts such as numbers of tickets that become links. */
export function Linkifiers() {
  const { client } = useSession();
  const fetch = useCallback(async () => (await client.getLinkifiers()).linkifiers, [client]);
  const reorder = (ids: number[]) => client.reorderLinkifiers({ ordered_linkifier_ids: ids });
  const { all, task, load, change, placeOf } = useOrderedList({ fetch, reorder });
  return (
    <>
      <p className="faint">{t('aTextInAMessageThatFits')}</p>
      <LinkifierForm
        label={t('addTheLinkifier')}
        initial={{ pattern: '', url_template: '' }}
        onSave={async (texts) => {
          await client.addLinkifier(texts);
          await load();
        }}
      />
      <ul className="cards">
        {(all ?? []).map((one, at) => (
          <LinkifierCard
            key={one.id}
            linkifier={one}
            place={placeOf(at)}
            onRemove={() => change(() => client.removeLinkifier({ filter_id: one.id }), t('removed'))}
            onSave={async (texts) => {
              await client.updateLinkifier({ filter_id: one.id, ...texts });
              await load();
            }}
          />
        ))}
      </ul>
      {all?.length === 0 && <p className="faint">{t('thereAreNoLinkifiersYet')}</p>}
      <Outcome task={task} />
    </>
  );
}

interface LinkifierFormProps {
  label: string;
  initial: Texts;
  onSave: (texts: Texts) => Promise<void>;
}

function LinkifierForm({ label, initial, onSave }: LinkifierFormProps) {
  const [pattern, setPattern] = useState(initial.pattern);
  const [template, setTemplate] = useState(initial.url_template);
  const task = useTask();
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      await onSave({ pattern, url_template: template });
      if (initial.pattern !== '') return;
      // Keep the text that was typed meanwhile.
      setPattern((now) => (now === pattern ? '' : now));
      setTemplate((now) => (now === template ? '' : now));
    }, t('saved'));
  };
  return (
    <form className="stack" onSubmit={save}>
      <Field label={t('patternLabel', { example: '#(?P<id>[0-9]+)' })}>
        <input
          className="code"
          value={pattern}
          required
          maxLength={1_000}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setPattern(event.target.value)}
        />
      </Field>
      <Field label={t('addressLabel', { example: 'https://tickets.example.com/{id}' })}>
        <input
          className="code"
          value={template}
          required
          maxLength={1_000}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setTemplate(event.target.value)}
        />
      </Field>
      <button
        type="submit"
        className="primary"
        disabled={task.isBusy || pattern.trim() === '' || template.trim() === ''}
      >
        {label}
      </button>
      <Outcome task={task} />
    </form>
  );
}

interface LinkifierCardProps {
  linkifier: Linkifier;
  place: Place;
  onRemove: () => void;
  onSave: (texts: Texts) => Promise<void>;
}

function LinkifierCard({ linkifier, place, onRemove, onSave }: LinkifierCardProps) {
  const [isOpen, setOpen] = useState(false);
  const { pattern, url_template } = linkifier;
  return (
    <li>
      <p className="code-line">
        <code>{pattern}</code>
      </p>
      <p className="code-line faint">{url_template}</p>
      <div className="card-tools">
        <button type="button" className="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Phrase short={t('change')} full={t('changeName', { name: pattern })} />
        </button>
        <OrderButtons name={pattern} place={place} />
        <ConfirmButton
          action={t('remove')}
          full={t('removeName', { name: pattern })}
          isDisabled={place.isBusy}
          onConfirm={onRemove}
        />
      </div>
      {isOpen && (
        <div className="panel">
          <LinkifierForm label={t('saveTheLinkifier')} initial={linkifier} onSave={onSave} />
        </div>
      )}
    </li>
  );
}
