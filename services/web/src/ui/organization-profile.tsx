import { type FormEvent, useCallback, useState } from 'react';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Check, Field } from './field.tsx';
import { OrderButtons } from './order-buttons.tsx';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { fieldKinds, kindNames, optionData, optionsOf, type ProfileField } from './profile-fields.ts';
import { useSession } from './session-context.tsx';
import { type Place, useOrderedList } from './use-ordered-list.ts';
import { useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
type Changes = Omit<Parameters<Client['updateProfileField']>[0], 'field_id'>;

/** The profile fields of people. */
export function ProfileFields() {
  const { client } = useSession();
  const fetch = useCallback(
    async (): Promise<readonly ProfileField[]> => (await client.getProfileFields()).custom_fields,
    [client],
  );
  const reorder = (order: number[]) => client.reorderProfileFields({ order });
  const { all, task, load, change, placeOf } = useOrderedList({ fetch, reorder });
  return (
    <>
      <NewField load={load} />
      <ul className="cards">
        {(all ?? []).map((field, at) => (
          <FieldCard
            key={field.id}
            field={field}
            place={placeOf(at)}
            onRemove={() => change(() => client.removeProfileField({ field_id: field.id }), t('removed'))}
            onSave={(changes) =>
              change(() => client.updateProfileField({ field_id: field.id, ...changes }), t('saved'))
            }
          />
        ))}
      </ul>
      {all?.length === 0 && <p className="faint">{t('thereAreNoProfileFieldsYet')}</p>}
      <Outcome task={task} />
    </>
  );
}

const accounts = [
  ['github', 'GitHub'],
  ['twitter', 'Twitter'],
  ['custom', t('anotherService')],
] as const;

function NewField({ load }: { load: () => Promise<void> }) {
  const { client } = useSession();
  const [name, setName] = useState('');
  const [hint, setHint] = useState('');
  const [kind, setKind] = useState<number>(fieldKinds.short);
  const [options, setOptions] = useState('');
  const [account, setAccount] = useState<string>('github');
  const [pattern, setPattern] = useState('');
  const task = useTask();
  const isKnownAccount = kind === fieldKinds.account && account !== 'custom';
  const data = (): Record<string, Record<string, string> | string> | undefined => {
    if (kind === fieldKinds.options) return optionData(options, []);
    if (kind !== fieldKinds.account) return undefined;
    return isKnownAccount ? { subtype: account } : { subtype: account, url_pattern: pattern };
  };
  const create = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      const named = isKnownAccount ? {} : { name, hint };
      await client.createProfileField({ ...named, field_type: kind, field_data: data() });
      setName('');
      setHint('');
      setOptions('');
      await load();
    }, t('theFieldIsAtTheEndOf'));
  };
  return (
    <form className="stack" onSubmit={create}>
      <Field label={t('kindOfField')}>
        <select value={kind} onChange={(event) => setKind(Number(event.target.value))}>
          {kindNames.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </Field>
      {kind === fieldKinds.account && (
        <Field label={t('service')}>
          <select value={account} onChange={(event) => setAccount(event.target.value)}>
            {accounts.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </Field>
      )}
      {!isKnownAccount && <Label name={name} hint={hint} onName={setName} onHint={setHint} />}
      {kind === fieldKinds.account && !isKnownAccount && (
        <Field label={t('accountPatternLabel', { placeholder: '%(username)s' })}>
          <input value={pattern} required maxLength={1_000} onChange={(event) => setPattern(event.target.value)} />
        </Field>
      )}
      {kind === fieldKinds.options && <OptionLines value={options} onChange={setOptions} />}
      <button type="submit" className="primary" disabled={task.isBusy || (!isKnownAccount && name.trim() === '')}>
        {t('addTheField')}
      </button>
      <Outcome task={task} />
    </form>
  );
}

interface LabelProps {
  name: string;
  hint: string;
  onName: (name: string) => void;
  onHint: (hint: string) => void;
}

function Label({ name, hint, onName, onHint }: LabelProps) {
  return (
    <>
      <Field label={t('nameOfTheField')}>
        <input value={name} required maxLength={40} onChange={(event) => onName(event.target.value)} />
      </Field>
      <Field label={t('hintForThoseWhoFillItIn')}>
        <input value={hint} maxLength={80} onChange={(event) => onHint(event.target.value)} />
      </Field>
    </>
  );
}

function OptionLines({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Field label={t('optionsOneInEachLine')}>
      <textarea rows={4} value={value} required onChange={(event) => onChange(event.target.value)} />
    </Field>
  );
}

interface FieldCardProps {
  field: ProfileField;
  place: Place;
  onRemove: () => void;
  onSave: (changes: Changes) => void;
}

function FieldCard({ field, place, onRemove, onSave }: FieldCardProps) {
  const [isOpen, setOpen] = useState(false);
  const { name } = field;
  return (
    <li>
      <p className="card-head">
        <bdi>{name}</bdi>
        <span className="faint">{kindNames.find(([value]) => value === field.type)?.[1]}</span>
      </p>
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
      {isOpen && <FieldForm field={field} isBusy={place.isBusy} onSave={onSave} />}
    </li>
  );
}

type FieldFormProps = Pick<FieldCardProps, 'field' | 'onSave'> & { isBusy: boolean };

function FieldForm({ field, isBusy, onSave }: FieldFormProps) {
  /** As the form was opened. Only changed values are sent, because somebody else may change the others. */
  const [before] = useState(field);
  const options = optionsOf(field);
  const texts = optionsOf(before).map(({ text }) => text);
  const [name, setName] = useState(field.name);
  const [hint, setHint] = useState(field.hint);
  const [lines, setLines] = useState(texts.join('\n'));
  const save = (event: FormEvent): void => {
    event.preventDefault();
    onSave({
      ...(name === before.name ? {} : { name }),
      ...(hint === before.hint ? {} : { hint }),
      ...(lines === texts.join('\n') ? {} : { field_data: optionData(lines, options) }),
    });
  };
  return (
    <form className="stack panel" onSubmit={save}>
      <Label name={name} hint={hint} onName={setName} onHint={setHint} />
      {field.type === fieldKinds.options && <OptionLines value={lines} onChange={setLines} />}
      <Check
        label={t('everybodyShouldFillItIn')}
        isOn={field.required}
        isDisabled={isBusy}
        onChange={(required) => onSave({ required })}
      />
      <Check
        label={t('peopleChangeItThemselves')}
        isOn={field.editable_by_user}
        isDisabled={isBusy}
        onChange={(editable_by_user) => onSave({ editable_by_user })}
      />
      <button type="submit" className="primary" disabled={isBusy || name.trim() === ''}>
        {t('saveTheField')}
      </button>
    </form>
  );
}
