import { useState } from 'react';
import { botKinds } from '../state/bots.ts';
import { findPeople } from '../state/completion.ts';
import { t } from '../text/text.ts';
import { ComboField } from './combo-field.tsx';
import { Check, Field } from './field.tsx';
import { channelName, personName } from './names.ts';
import { ProblemField } from './problem-field.tsx';
import { SelectOptions } from './select-options.tsx';
import { useDirectory, useSelected } from './session-context.tsx';
import type { useFile } from './use-file.ts';

export const kinds = [
  [botKinds.generic, t('readsAndWritesWithTheApi')],
  [botKinds.incoming, t('onlySendsMessages')],
  [botKinds.outgoing, t('isCalledAtAnAddressWhenSomebody')],
] as const;

const interfaces = [
  [1, t('interfaceGeneric')],
  [2, t('interfaceSlack')],
] as const;

/** The fields whose values the server may refuse, with patterns of the refusals of each; the first match counts. */
export const botCauses = {
  shortName: /username/i,
  url: /payload_url/,
  picture: /image|avatar|picture|file is larger/i,
  name: /\bname|Unique names/i,
};

interface FieldProps<T> {
  value: T;
  problem: string | undefined;
  onChange: (value: T) => void;
}

export function NameField({ value, problem, onChange }: FieldProps<string>) {
  return (
    <ProblemField label={t('nameOfTheBot')} problem={problem}>
      <input
        value={value}
        required
        maxLength={100}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
    </ProblemField>
  );
}

interface PictureFieldProps {
  label: string;
  problem: string | undefined;
  picture: ReturnType<typeof useFile>;
}

export function PictureField({ label, problem, picture }: PictureFieldProps) {
  return (
    <ProblemField label={label} problem={problem}>
      <input
        ref={picture.field}
        type="file"
        accept="image/*"
        onChange={(event) => picture.choose(event.target.files?.[0])}
      />
    </ProblemField>
  );
}

interface CallFieldsProps extends FieldProps<string> {
  isRequired: boolean;
  format: number;
  onFormat: (format: number) => void;
}

/** The address of an outgoing webhook bot, and the form of the requests to it. */
export function CallFields({ value, isRequired, problem, onChange, format, onFormat }: CallFieldsProps) {
  return (
    <>
      <ProblemField label={t('addressThatIsCalled')} problem={problem}>
        <input
          type="url"
          value={value}
          required={isRequired}
          maxLength={1_000}
          onChange={(event) => onChange(event.target.value)}
        />
      </ProblemField>
      <Field label={t('formOfTheCalls')}>
        <select value={format} onChange={(event) => onFormat(Number(event.target.value))}>
          <SelectOptions of={interfaces} />
        </select>
      </Field>
    </>
  );
}

/** The ID of a channel; for one to which the reader does not subscribe, its name; for none, an empty name. */
export type ChosenChannel = number | string;

interface Defaults {
  default_sending_stream: ChosenChannel;
  default_events_register_stream: ChosenChannel;
  default_all_public_streams: boolean;
}

interface DefaultFieldsProps {
  kind: number;
  values: Defaults;
  onChange: (changed: Partial<Defaults>) => void;
}

/** The channels that a bot uses if its requests name none. A bot that only sends receives nothing. */
export function DefaultFields({ kind, values, onChange }: DefaultFieldsProps) {
  return (
    <>
      <ChannelField
        label={t('channelForItsMessages')}
        none={t('itNamesAChannelItself')}
        value={values.default_sending_stream}
        onChange={(chosen) => onChange({ default_sending_stream: chosen })}
      />
      {kind !== botKinds.incoming && (
        <>
          <ChannelField
            label={t('channelWhoseEventsItGets')}
            none={t('allThatItSubscribesTo')}
            value={values.default_events_register_stream}
            onChange={(chosen) => onChange({ default_events_register_stream: chosen })}
          />
          <Check
            label={t('itGetsMessagesOfAllPublicChannels')}
            isOn={values.default_all_public_streams}
            onChange={(isOn) => onChange({ default_all_public_streams: isOn })}
          />
        </>
      )}
    </>
  );
}

interface ChannelFieldProps {
  label: string;
  none: string;
  value: ChosenChannel;
  onChange: (chosen: ChosenChannel) => void;
}

function ChannelField({ label, none, value, onChange }: ChannelFieldProps) {
  const directory = useDirectory();
  const options: [ChosenChannel, string][] = [...directory.channels.values()].map(({ id, name }) => [id, name]);
  if (value !== '' && !options.some(([chosen]) => chosen === value))
    options.push([value, typeof value === 'number' ? channelName(directory, value) : value]);
  options.sort(([, a], [, b]) => a.localeCompare(b));
  return (
    <Field label={label}>
      <select
        value={options.findIndex(([chosen]) => chosen === value)}
        onChange={(event) => onChange(options[Number(event.target.value)]?.[0] ?? '')}
      >
        <option value={-1}>{none}</option>
        {options.map(([chosen, name], at) => (
          <option key={`${typeof chosen} ${chosen}`} value={at}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** The owner of a bot. Without the choice of another person, it keeps its owner. */
export function OwnerField({ owner, onChange }: { owner: number | null; onChange: (owner: number | null) => void }) {
  const model = useSelected((state) => state.model);
  const [before] = useState(owner);
  const [query, setQuery] = useState(before === null ? '' : personName(model, before));
  const found = findPeople(query, { model }).filter(({ isBot }) => !isBot);
  return (
    <>
      <ComboField
        label={t('ownerOfTheBot')}
        list={t('people')}
        value={query}
        found={found.map(({ id, name }) => ({ key: String(id), label: name, detail: '', insert: '' }))}
        onChange={(text) => {
          setQuery(text);
          onChange(before);
        }}
        onChoose={({ key, label }) => {
          setQuery(label);
          onChange(Number(key));
        }}
      />
      {owner !== before && <p role="status">{t('anotherOwnerGetsANewKey')}</p>}
    </>
  );
}
