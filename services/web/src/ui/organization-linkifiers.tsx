import { type FormEvent, useCallback, useState } from 'react';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Field } from './field.tsx';
import { OrderButtons } from './order-buttons.tsx';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
import type { Loaded } from './use-loaded.ts';
import { type Place, useOrderedList } from './use-ordered-list.ts';
import { useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
type Linkifier = Awaited<ReturnType<Client['getLinkifiers']>>['linkifiers'][number];
interface Texts {
  pattern: string;
  url_template: string;
}

const empty: Texts = { pattern: '', url_template: '' };

/** Texts such as numbers of tickets that become links. */
export function Linkifiers() {
  const { client } = useSession();
  const fetch = useCallback(async () => (await client.getLinkifiers()).linkifiers, [client]);
  const reorder = (ids: number[]) => client.reorderLinkifiers({ ordered_linkifier_ids: ids });
  const { data: all, loading, task, change, edit, placeOf } = useOrderedList({ fetch, reorder });
  return (
    <>
      <p className="faint">{t('aTextInAMessageThatFits')}</p>
      <LinkifierForm
        label={t('addTheLinkifier')}
        known={empty}
        change={change}
        onSend={(texts) => client.addLinkifier({ ...empty, ...texts })}
      />
      <ul className="cards">
        {(all ?? []).map((one, at) => (
          <LinkifierCard
            key={one.id}
            linkifier={one}
            place={placeOf(at)}
            onRemove={() => edit(() => client.removeLinkifier({ filter_id: one.id }), t('removed'))}
            change={change}
            onSend={async (texts) => {
              // The API takes both texts, and somebody else may have changed the other one.
              const { id, ...newest } = (await fetch()).find(({ id }) => id === one.id) ?? one;
              await client.updateLinkifier({ ...newest, ...texts, filter_id: id });
            }}
          />
        ))}
      </ul>
      {all?.length === 0 && <p className="faint">{t('thereAreNoLinkifiersYet')}</p>}
      <Outcome task={task} />
      <Outcome task={loading} />
    </>
  );
}

interface SavingProps extends Pick<Loaded<unknown>, 'change'> {
  /** Sends texts that were changed. */
  onSend: (texts: Partial<Texts>) => Promise<unknown>;
}
interface LinkifierFormProps extends SavingProps {
  label: string;
  /** The texts that the server has; empty ones for a new linkifier. */
  known: Texts;
}

function LinkifierForm({ label, known, change, onSend }: LinkifierFormProps) {
  const form = useForm(known);
  const { pattern, url_template: template } = form.values;
  const task = useTask();
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const send = (): Promise<unknown> => (known === empty ? form.add(onSend) : form.save(onSend));
    void task.run(() => change(send), t('saved'));
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
          onChange={(event) => form.set({ pattern: event.target.value })}
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
          onChange={(event) => form.set({ url_template: event.target.value })}
        />
      </Field>
      <button
        type="submit"
        className="primary"
        disabled={task.isBusy || pattern.trim() === '' || template.trim() === '' || !form.isChanged}
      >
        {label}
      </button>
      <Outcome task={task} />
    </form>
  );
}

interface LinkifierCardProps extends SavingProps {
  linkifier: Linkifier;
  place: Place;
  onRemove: () => void;
}

function LinkifierCard({ linkifier, place, onRemove, change, onSend }: LinkifierCardProps) {
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
          <LinkifierForm
            label={t('saveTheLinkifier')}
            known={{ pattern, url_template }}
            change={change}
            onSend={onSend}
          />
        </div>
      )}
    </li>
  );
}
