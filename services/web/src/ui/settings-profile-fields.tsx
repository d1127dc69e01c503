import { type FormEvent, useCallback } from 'react';
import { t } from '../text/text.ts';
import { Field } from './field.tsx';
import { MembersField } from './members-field.tsx';
import { Outcome } from './outcome.tsx';
import { fieldKinds, optionsOf, type ProfileField, peopleOf } from './profile-fields.ts';
import { useSelected, useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
import { useLoaded } from './use-loaded.ts';
import { useTask } from './use-task.ts';

type Values = Readonly<Record<string, string>>;
const none: { fields: readonly ProfileField[]; known: Values } = { fields: [], known: {} };

/** The person's own values of the profile fields. */
export function OwnFields() {
  const { client } = useSession();
  const ownId = useSelected(({ model }) => model.ownId);
  const task = useTask();
  const fetch = useCallback(async () => {
    const asked = { user_id_or_email: String(ownId), include_custom_profile_fields: true };
    const [{ custom_fields }, { user }] = await Promise.all([client.getProfileFields(), client.getUser(asked)]);
    const known = Object.fromEntries(custom_fields.map(({ id }) => [id, user.profile_data?.[id]?.value ?? '']));
    return { fields: custom_fields as readonly ProfileField[], known };
  }, [client, ownId]);
  const { data = none, loading, change } = useLoaded(fetch);
  const { fields, known } = data;
  const form = useForm(known);
  const send = (changed: Partial<Values>) =>
    client.updateOwnProfileData({
      data: fields
        .filter(({ id }) => id in changed)
        .map(({ id, type }) => {
          const value = changed[id] ?? '';
          return { id, value: type === fieldKinds.people ? peopleOf(value) : value };
        }),
    });
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => change(() => form.save(send)), t('yourProfileIsSaved'));
  };
  if (fields.length === 0) return <Outcome task={loading} />;
  return (
    <form className="stack" onSubmit={save}>
      <h3>{t('moreAboutYou')}</h3>
      {fields.map((field) => (
        <Value
          key={field.id}
          field={field}
          value={form.values[field.id] ?? ''}
          onChange={(value) => form.set({ [field.id]: value })}
        />
      ))}
      <button type="submit" className="primary" disabled={task.isBusy || !form.isChanged}>
        {t('saveTheProfile')}
      </button>
      <Outcome task={task} />
      <Outcome task={loading} />
    </form>
  );
}

interface ValueProps {
  field: ProfileField;
  value: string;
  onChange: (value: string) => void;
}

const inputTypes: Readonly<Record<number, string>> = { [fieldKinds.date]: 'date', [fieldKinds.link]: 'url' };

function Value({ field, value, onChange }: ValueProps) {
  const { name, hint, type, editable_by_user: isEditable } = field;
  const isDisabled = !isEditable;
  if (type === fieldKinds.people) return <PeopleValue field={field} value={value} onChange={onChange} />;
  return (
    <Field label={hint === '' ? name : `${name} (${hint})`}>
      {type === fieldKinds.options ? (
        <select value={value} disabled={isDisabled} onChange={(event) => onChange(event.target.value)}>
          <option value="" />
          {optionsOf(field).map(({ key, text }) => (
            <option key={key} value={key}>
              {text}
            </option>
          ))}
        </select>
      ) : type === fieldKinds.long ? (
        <textarea
          rows={3}
          maxLength={500}
          value={value}
          disabled={isDisabled}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          type={inputTypes[type] ?? 'text'}
          maxLength={type === fieldKinds.link ? 2_000 : 50}
          value={value}
          disabled={isDisabled}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

function PeopleValue({ field, value, onChange }: ValueProps) {
  const people = peopleOf(value);
  const set = (ids: readonly number[]): void => onChange(ids.length === 0 ? '' : JSON.stringify(ids));
  return (
    <MembersField
      title={field.name}
      label={
        field.hint === ''
          ? t('addToField', { field: field.name })
          : t('addToFieldHint', { field: field.name, hint: field.hint })
      }
      members={{ people, groups: [] }}
      mayAdd={field.editable_by_user}
      mayRemove={() => field.editable_by_user}
      onAdd={(_, id) => set([...people, id])}
      onRemove={(_, id) => set(people.filter((one) => one !== id))}
    />
  );
}
