import { type FormEvent, useState } from 'react';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Field } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useAllChannels } from './use-all-channels.ts';
import { useTask } from './use-task.ts';

/** The channels to which newcomers are subscribed. */
export function DefaultChannels() {
  const { client } = useSession();
  const ids = useSelected(({ model }) => model.realmCollections.defaultChannels);
  const [chosen, setChosen] = useState('');
  const task = useTask();
  const { all = [], loading } = useAllChannels();
  const others = all.filter(({ id, isPrivate }) => !isPrivate && !ids.includes(id));
  const isOffered = others.some(({ id }) => String(id) === chosen);
  const add = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => client.addDefaultChannel({ stream_id: Number(chosen) }), t('theChannelIsAdded'));
  };
  return (
    <>
      <p className="faint">{t('newcomersAreSubscribedToTheseChannels')}</p>
      <ul className="cards">
        {all
          .filter(({ id }) => ids.includes(id))
          .map(({ id, name }) => (
            <li key={id} className="row">
              <bdi className="grow">#{name}</bdi>
              <ConfirmButton
                action={t('remove')}
                full={t('removeName', { name })}
                isDisabled={task.isBusy}
                onConfirm={() => void task.run(() => client.removeDefaultChannel({ stream_id: id }), t('removed'))}
              />
            </li>
          ))}
      </ul>
      {ids.length === 0 && <p className="faint">{t('thereAreNoDefaultChannels')}</p>}
      <form className="stack" onSubmit={add}>
        <Field label={t('publicChannel')}>
          <select value={isOffered ? chosen : ''} onChange={(event) => setChosen(event.target.value)}>
            <option value="">{t('chooseAChannel')}</option>
            {others.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </Field>
        <button type="submit" className="primary" disabled={task.isBusy || !isOffered}>
          {t('addTheChannel')}
        </button>
        <Outcome task={task} />
      </form>
      <Outcome task={loading} />
    </>
  );
}
