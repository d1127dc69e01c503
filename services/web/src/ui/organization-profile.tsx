import { type FormEvent, useCallback, useMemo, useState } from 'react';
import { t } from '../text/text.ts';
import { CardHead } from './card-head.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Check, Field } from './field.tsx';
import { OptionRows } from './option-rows.tsx';
import { OrderButtons } from './order-buttons.tsx';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import {
  fieldKinds,
  kindNames,
  mergedOptions,
  type Option,
  optionData,
  optionsOf,
  type ProfileField,
} from './profile-fields.ts';
import { SelectOptions } from './select-options.tsx';
import { useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
import type { Loaded } from './use-loaded.ts';
import { type Place, useOrderedList } from './use-ordered-list.ts';
import { useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
type Changing = Pick<Loaded<unknown>, 'change'>;
type Changes = Omit<Parameters<Client['updateProfileField']>[0], 'field_id'>;

/** The profile fields of people. */
export function ProfileFields() {
  const { client } = useSession();
  const fetch = useCallback(
    async (): Promise<readonly ProfileField[]> => (await client.getProfileFields()).custom_fields,
    [client],
  );
  const reorder = (order: number[]) => client.reorderProfileFields({ order });
  const { data: all, loading, task, change, edit, placeOf } = useOrderedList({ fetch, reorder });
  return (
    <>
      <NewField change={change} />
      <ul className="cards">
        {(all ?? []).map((field, at) => (
          <FieldCard
            key={field.id}
            field={field}
            place={placeOf(at)}
            onRemove={() => edit(() => client.removeProfileField({ field_id: field.id }), t('removed'))}
            change={change}
          />
        ))}
      </ul>
      {all?.length === 0 && <p className="faint">{t('thereAreNoProfileFieldsYet')}</p>}
      <Outcome task={task} />
      <Outcome task={loading} />
    </>
  );
}

const empty = { name: '', hint: '', options: '', pattern: '' };
const accounts = [
  ['github', 'GitHub'],
  ['twitter', 'Twitter'],
  ['custom', t('anotherService')],
] as const;

function NewField({ change }: Changing) {
  const { client } = useSession();
  const form = useForm(empty);
  const [kind, setKind] = useState<number>(fieldKinds.short);
  const [account, setAccount] = useState<string>('github');
  const task = useTask();
  const isKnownAccount = kind === fieldKinds.account && account !== 'custom';
  const dataOf = ({ options, pattern }: typeof empty): Changes['field_data'] => {
    if (kind === fieldKinds.options) return optionData([], options);
    if (kind !== fieldKinds.account) return undefined;
    return isKnownAccount ? { subtype: account } : { subtype: account, url_pattern: pattern };
  };
  const send = (values: typeof empty) => {
    const named = isKnownAccount ? {} : { name: values.name, hint: values.hint };
    return client.createProfileField({ ...named, field_type: kind, field_data: dataOf(values) });
  };
  const create = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => change(() => form.add(send)), t('theFieldIsAtTheEndOf'));
  };
  return (
    <form className="stack" onSubmit={create}>
      <Field label={t('kindOfField')}>
        <select value={kind} onChange={(event) => setKind(Number(event.target.value))}>
          <SelectOptions of={kindNames} />
        </select>
      </Field>
      {kind === fieldKinds.account && (
        <Field label={t('service')}>
          <select value={account} onChange={(event) => setAccount(event.target.value)}>
            <SelectOptions of={accounts} />
          </select>
        </Field>
      )}
      {!isKnownAccount && <Label values={form.values} onChange={form.set} />}
      {kind === fieldKinds.account && !isKnownAccount && (
        <Field label={t('accountPatternLabel', { placeholder: '%(username)s' })}>
          <input
            value={form.values.pattern}
            required
            maxLength={1_000}
            onChange={(event) => form.set({ pattern: event.target.value })}
          />
        </Field>
      )}
      {kind === fieldKinds.options && (
        <Field label={t('optionsOneInEachLine')}>
          <textarea
            rows={4}
            value={form.values.options}
            required
            onChange={(event) => form.set({ options: event.target.value })}
          />
        </Field>
      )}
      <button
        type="submit"
        className="primary"
        disabled={task.isBusy || (!isKnownAccount && form.values.name.trim() === '')}
      >
        {t('addTheField')}
      </button>
      <Outcome task={task} />
    </form>
  );
}

interface LabelProps {
  values: { name: string; hint: string };
  onChange: (changed: { name: string } | { hint: string }) => void;
}

function Label({ values: { name, hint }, onChange }: LabelProps) {
  return (
    <>
      <Field label={t('nameOfTheField')}>
        <input value={name} required maxLength={40} onChange={(event) => onChange({ name: event.target.value })} />
      </Field>
      <Field label={t('hintForThoseWhoFillItIn')}>
        <input value={hint} maxLength={80} onChange={(event) => onChange({ hint: event.target.value })} />
      </Field>
    </>
  );
}

interface FieldCardProps extends Changing {
  field: ProfileField;
  place: Place;
  onRemove: () => void;
}

function FieldCard({ field, place, onRemove, change }: FieldCardProps) {
  const [isOpen, setOpen] = useState(false);
  const { name } = field;
  return (
    <li>
      <CardHead title={name} detail={kindNames.find(([value]) => value === field.type)?.[1]} />
      <div className="card-tools">
        <button type="button" className="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Phrase short={t('change')} full={t('changeName', { name })} />
        </button>
        <OrderButtons name={name} place={place} />
        <ConfirmButton
          action={t('remove')}
          full={t('removeName', { name })}
          isDisabled={place.isBusy}
          onConfirm={onRemove}
        />
      </div>
      {isOpen && <FieldForm field={field} change={change} />}
    </li>
  );
}

function FieldForm({ field, change }: Pick<FieldCardProps, 'field' | 'change'>) {
  const { client } = useSession();
  const hasOptions = field.type === fieldKinds.options;
  const known = useMemo((): readonly Option[] => (hasOptions ? optionsOf(field) : []), [hasOptions, field.field_data]);
  const form = useForm({ name: field.name, hint: field.hint, options: known }, ({ before, values }, newest) => ({
    options: mergedOptions({ before: before.options, after: values.options }, newest.options),
  }));
  const { name, options } = form.values;
  /** New options, one in each line. */
  const added = useForm({ lines: '' });
  const { lines } = added.values;
  const task = useTask();
  const update = (changes: Changes) => client.updateProfileField({ field_id: field.id, ...changes });
  const dataOfOptions = async () => {
    const { custom_fields } = await client.getProfileFields();
    const newest = optionsOf(custom_fields.find(({ id }) => id === field.id) ?? field);
    return optionData(mergedOptions({ before: form.before.options, after: options }, newest), lines, newest);
  };
  const send = async ({ options: edited, ...changed }: typeof form.changed) =>
    update({ ...changed, ...(edited || lines.trim() !== '' ? { field_data: await dataOfOptions() } : {}) });
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => change(() => added.add(() => form.save(send))), t('saved'));
  };
  const set = (changes: Changes): void => void task.run(() => change(() => update(changes)), t('saved'));
  const isComplete = name.trim() !== '' && options.every(({ text }) => text.trim() !== '');
  return (
    <form className="stack panel" onSubmit={save}>
      <Label values={form.values} onChange={form.set} />
      {hasOptions && (
        <>
          <OptionRows
            before={form.before.options}
            options={options}
            isBusy={task.isBusy}
            onChange={(edited) => form.set({ options: edited })}
          />
          <Field label={t('moreOptionsOneInEachLine')}>
            <textarea rows={2} value={lines} onChange={(event) => added.set({ lines: event.target.value })} />
          </Field>
        </>
      )}
      <Check
        label={t('everybodyShouldFillItIn')}
        isOn={field.required}
        isDisabled={task.isBusy}
        onChange={(required) => set({ required })}
      />
      <Check
        label={t('peopleChangeItThemselves')}
        isOn={field.editable_by_user}
        isDisabled={task.isBusy}
        onChange={(editable_by_user) => set({ editable_by_user })}
      />
      <button
        type="submit"
        className="primary"
        disabled={task.isBusy || !isComplete || !(form.isChanged || lines.trim() !== '')}
      >
        {t('saveTheField')}
      </button>
      <Outcome task={task} />
    </form>
  );
}
