import { type FormEvent, useEffect, useState } from 'react';
import { t } from '../text/text.ts';
import { Field } from './field.tsx';
import { OrganizationSettings } from './organization-settings.tsx';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

/** The name and description of the organization, and its settings. */
export function General() {
  return (
    <>
      <Identity />
      <OrganizationSettings />
    </>
  );
}

function Identity() {
  const { client } = useSession();
  const known = useSelected(({ model }) => model.realmName);
  const [name, setName] = useState(known);
  const [description, setDescription] = useState<string>();
  /** The values before any change. Only changed values are sent, because somebody else may change the others. */
  const [before, setBefore] = useState<{ name: string; description?: string }>({ name: known });
  const task = useTask();
  useEffect(() => {
    client.getServerSettings().then(
      (answer) => {
        const text = String((answer as Record<string, unknown>).realm_description ?? '');
        setBefore((all) => ({ ...all, description: text }));
        setDescription(text);
      },
      () => undefined,
    );
  }, [client]);
  const changed = {
    ...(name === before.name ? {} : { name }),
    ...(description === undefined || description === before.description ? {} : { description }),
  };
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      await client.updateRealm(changed);
      setBefore((all) => ({ ...all, ...changed }));
    }, t('saved'));
  };
  return (
    <form className="stack" onSubmit={save}>
      <Field label={t('nameOfTheOrganization')}>
        <input value={name} required maxLength={40} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label={t('description')}>
        <textarea
          rows={3}
          maxLength={1_000}
          value={description ?? ''}
          disabled={description === undefined}
          onChange={(e) => setDescription(e.target.value)}
        />
      </Field>
      <button
        type="submit"
        className="primary"
        disabled={task.isBusy || name.trim() === '' || Object.keys(changed).length === 0}
      >
        {t('save')}
      </button>
      <Outcome task={task} />
    </form>
  );
}
