import type { FormEvent } from 'react';
import { type Bot, botKinds, isWithoutAddress } from '../state/bots.ts';
import type { Model } from '../state/model.ts';
import { t } from '../text/text.ts';
import {
  botCauses,
  CallFields,
  type ChosenChannel,
  DefaultFields,
  NameField,
  OwnerField,
  PictureField,
} from './bot-fields.tsx';
import { currentName } from './current-name.ts';
import { Field } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { problemsOf } from './problem-field.tsx';
import { roles } from './roles.ts';
import { SelectOptions } from './select-options.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useFile } from './use-file.ts';
import { useForm } from './use-form.ts';
import type { Task } from './use-task.ts';

/** A channel that a bot has by its name. */
const chosenOf = ({ channels }: Model, name: string | null): ChosenChannel =>
  [...channels.values()].find((one) => one.name === name)?.id ?? name ?? '';

/** The values of a bot, named as in the API. */
const valuesOf = (bot: Bot, model: Model) => ({
  full_name: bot.name,
  role: roleOf(model, bot.id),
  bot_owner_id: bot.ownerId,
  default_sending_stream: chosenOf(model, bot.sendingChannel),
  default_events_register_stream: chosenOf(model, bot.eventsChannel),
  default_all_public_streams: bot.getsAllPublic,
  service_payload_url: bot.services[0]?.url ?? '',
  service_interface: bot.services[0]?.interface ?? 1,
});
type Values = ReturnType<typeof valuesOf>;
type Client = ReturnType<typeof useSession>['client'];
type Changes = Omit<Parameters<Client['updateBot']>[0], 'bot_id'>;

const roleOf = (model: Model, id: number): number => model.people.get(id)?.role ?? 0;

const nameOf = async (client: Client, chosen: ChosenChannel): Promise<string> =>
  typeof chosen === 'number' ? currentName(client, chosen) : chosen;

/** Changed values as the API takes them: it names channels. */
async function paramsOf(client: Client, changed: Partial<Values>): Promise<Changes> {
  const { default_sending_stream: sending, default_events_register_stream: events, ...others } = changed;
  return {
    ...(others as Changes),
    ...(sending === undefined ? {} : { default_sending_stream: await nameOf(client, sending) }),
    ...(events === undefined ? {} : { default_events_register_stream: await nameOf(client, events) }),
  };
}

/** Changes a bot. The task belongs to the card, because a bot with another owner gets another form. */
export function BotForm({ bot, task }: { bot: Bot; task: Task }) {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const { values, set, isChanged, save: saveValues } = useForm(valuesOf(bot, model));
  const picture = useFile();
  const { file } = picture;
  const problems = problemsOf(task, botCauses);
  const send = async (changed: Partial<Values>) =>
    client.updateBot({ bot_id: bot.id, ...(await paramsOf(client, changed)), ...(file ? { file } : {}) });
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      await saveValues(send);
      picture.end(file);
    }, t('saved'));
  };
  return (
    <form className="stack panel" onSubmit={save}>
      <NameField value={values.full_name} problem={problems.of('name')} onChange={(full_name) => set({ full_name })} />
      <PictureField label={t('newPicture')} problem={problems.of('picture')} picture={picture} />
      <OwnerField owner={values.bot_owner_id} onChange={(bot_owner_id) => set({ bot_owner_id })} />
      <RoleField model={model} values={values} onChange={(role) => set({ role })} />
      {bot.kind === botKinds.outgoing && (
        <>
          {values.bot_owner_id !== bot.ownerId && <p role="status">{t('anotherOwnerEntersTheAddress')}</p>}
          <CallFields
            value={values.service_payload_url}
            isRequired={!isWithoutAddress(bot)}
            problem={problems.of('url')}
            onChange={(service_payload_url) => set({ service_payload_url })}
            format={values.service_interface}
            onFormat={(service_interface) => set({ service_interface })}
          />
          <Token bot={bot} />
        </>
      )}
      <DefaultFields kind={bot.kind} values={values} onChange={set} />
      <button
        type="submit"
        className="primary"
        disabled={task.isBusy || values.full_name.trim() === '' || !(isChanged || file)}
      >
        {t('saveTheBot')}
      </button>
      <Outcome task={problems.rest} />
    </form>
  );
}

interface RoleFieldProps {
  model: Model;
  values: Values;
  onChange: (role: number) => void;
}

/** The role of a bot is neither above that of its owner, nor above that of the person who changes it. */
function RoleField({ model, values: { role, bot_owner_id }, onChange }: RoleFieldProps) {
  const highest = Math.max(roleOf(model, model.ownId), bot_owner_id === null ? 0 : roleOf(model, bot_owner_id));
  return (
    <Field label={t('role')}>
      <select value={role} onChange={(event) => onChange(Number(event.target.value))}>
        <SelectOptions of={roles.filter(([value]) => value >= highest || value === role)} />
      </select>
    </Field>
  );
}

/** With the token, the called program knows that a request is from this server. Only the owner sees it. */
function Token({ bot: { services } }: { bot: Bot }) {
  const token = services[0]?.token ?? '';
  if (token === '') return null;
  return (
    <details className="folded">
      <summary>{t('tokenOfTheCalls')}</summary>
      <Field label={t('tokenOfTheCalls')}>
        <input className="code" readOnly value={token} onFocus={(event) => event.target.select()} />
      </Field>
    </details>
  );
}
