import { useState } from 'react';
import { findPeople } from '../state/completion.ts';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { roles } from './roles.ts';
import { SelectOptions } from './select-options.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

const shown = 50;

/** Roles, deactivation and its end. */
export function People() {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const [filter, setFilter] = useState('');
  const task = useTask();
  const setRole = (id: number, role: number): void =>
    void task.run(() => client.updateUser({ user_id_or_email: String(id), role }), t('theRoleIsChanged'));
  const found = findPeople(filter, { model }, shown).filter(({ isBot }) => !isBot);
  return (
    <section aria-labelledby="people">
      <h3 id="people">{t('people')}</h3>
      <input
        type="search"
        aria-label={t('findPeopleToChange')}
        placeholder={t('findPeople')}
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      <ul className="cards">
        {found.map(({ id, name, role }) => (
          <li key={id} className="row">
            <bdi className="grow">{name}</bdi>
            <select
              aria-label={t('roleOf', { name })}
              value={role}
              disabled={task.isBusy}
              onChange={(event) => setRole(id, Number(event.target.value))}
            >
              <SelectOptions of={roles} />
            </select>
            {id !== model.ownId && (
              <ConfirmButton
                action={t('deactivate')}
                full={t('deactivateName', { name })}
                isDisabled={task.isBusy}
                onConfirm={() =>
                  void task.run(() => client.deactivateUser({ user_id: id }), t('isDeactivated', { name }))
                }
              />
            )}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="faint">{t('nobodyHasSuchAName')}</p>}
      {found.length >= shown && <p className="faint">{t('thereAreMoreTypeAName')}</p>}
      <Outcome task={task} />
      <Deactivated filter={filter} />
    </section>
  );
}

function Deactivated({ filter }: { filter: string }) {
  const { client } = useSession();
  const people = useSelected(({ model }) => model.people);
  const task = useTask();
  const wanted = filter.trim().toLowerCase();
  const found = [...people.values()].filter(
    ({ isActive, isBot, name }) => !isActive && !isBot && name.toLowerCase().includes(wanted),
  );
  return (
    <details className="folded">
      <summary>{t('deactivatedPeople')}</summary>
      <ul className="cards">
        {found.slice(0, shown).map(({ id, name }) => (
          <li key={id} className="row">
            <bdi className="grow">{name}</bdi>
            <button
              type="button"
              className="plain"
              disabled={task.isBusy}
              onClick={() => void task.run(() => client.reactivateUser({ user_id: id }), t('isActiveAgain', { name }))}
            >
              <Phrase short={t('reactivate')} full={t('reactivateName', { name })} />
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="faint">{t('nobodyThere')}</p>}
      {found.length > shown && <p className="faint">{t('thereAreMoreTypeAName')}</p>}
      <Outcome task={task} />
    </details>
  );
}
