import type { FormEvent } from 'react';
import { t } from '../text/text.ts';
import { Field } from './field.tsx';
import { OrganizationSettings } from './organization-settings.tsx';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
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
  const description = useSelected(({ model }) => model.realm.settings.description);
  const form = useForm({ name: known, description: String(description ?? '') });
  const task = useTask();
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => form.save((changed) => client.updateRealm(changed)), t('saved'));
  };
  return (
    <form className="stack" onSubmit={save}>
      <Field label={t('nameOfTheOrganization')}>
        <input
          value={form.values.name}
          required
          maxLength={40}
          onChange={(event) => form.set({ name: event.target.value })}
        />
      </Field>
      <Field label={t('description')}>
        <textarea
          rows={3}
          maxLength={1_000}
          value={form.values.description}
          onChange={(event) => form.set({ description: event.target.value })}
        />
      </Field>
      <button
        type="submit"
        className="primary"
        disabled={task.isBusy || form.values.name.trim() === '' || !form.isChanged}
      >
        {t('save')}
      </button>
      <Outcome task={task} />
    </form>
  );
}
