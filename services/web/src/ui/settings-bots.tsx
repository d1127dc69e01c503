import { type FormEvent, useCallback, useEffect, useState } from 'react';
import { may } from '../state/permissions.ts';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Field } from './field.tsx';
import { personName } from './names.ts';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
type Bot = Awaited<ReturnType<Client['getUsers']>>['members'][number];
type Load = () => Promise<void>;

const generic = 1;
const incoming = 2;
const outgoing = 3;
const kinds = [
  [generic, t('readsAndWritesWithTheApi')],
  [incoming, t('onlySendsMessages')],
  [outgoing, t('isCalledAtAnAddressWhenSomebody')],
] as const;

/** The bots of the person; for administrators, those of others, too. */
export function Bots() {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const [all, setAll] = useState<readonly Bot[]>();
  const loading = useTask();
  const load = useCallback(async () => {
    const { members } = await client.getUsers({ client_gravatar: true });
    setAll(members.filter((one) => one.is_bot && one.is_active && one.is_system_bot !== true));
  }, [client]);
  useEffect(() => void loading.run(load), [load]);
  const own = (all ?? []).filter(({ bot_owner_id }) => bot_owner_id === model.ownId);
  const others = (all ?? []).filter(({ bot_owner_id }) => bot_owner_id !== model.ownId);
  const mayAll = may(model, 'can_create_bots_group');
  return (
    <>
      {(mayAll || may(model, 'can_create_write_only_bots_group')) && <NewBot mayAll={mayAll} load={load} />}
      <h3>{t('yourBots')}</h3>
      <ul className="cards">
        {own.map((bot) => (
          <BotCard key={bot.user_id} bot={bot} load={load} />
        ))}
      </ul>
      {all && own.length === 0 && <p className="faint">{t('youHaveNoBots')}</p>}
      {model.rules.isAdministrator && others.length > 0 && (
        <>
          <h3>{t('botsOfOthers')}</h3>
          <ul className="cards">
            {others.map((bot) => (
              <BotCard key={bot.user_id} bot={bot} load={load} />
            ))}
          </ul>
        </>
      )}
      <Outcome task={loading} />
    </>
  );
}

function NewBot({ mayAll, load }: { mayAll: boolean; load: Load }) {
  const { client } = useSession();
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const [kind, setKind] = useState<number>(mayAll ? generic : incoming);
  const [url, setUrl] = useState('');
  const task = useTask();
  const create = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      const called = kind === outgoing ? { payload_url: url } : {};
      await client.createBot({ full_name: name, short_name: address, bot_type: kind, ...called });
      setName('');
      setAddress('');
      setUrl('');
      await load();
    }, t('theBotIsInTheListIt'));
  };
  const isComplete = name.trim() !== '' && address.trim() !== '' && (kind !== outgoing || url.trim() !== '');
  return (
    <form className="stack" onSubmit={create}>
      <Field label={t('nameOfTheBot')}>
        <input value={name} required maxLength={100} autoComplete="off" onChange={(e) => setName(e.target.value)} />
      </Field>
      <Field label={t('firstPartOfItsAddressSuchAs')}>
        <input
          value={address}
          required
          maxLength={60}
          pattern="[A-Za-z0-9._\-]+"
          title={t('lettersDigitsDotsLinesAndUnderscores')}
          autoComplete="off"
          onChange={(event) => setAddress(event.target.value)}
        />
      </Field>
      <Field label={t('botKind')}>
        <select value={kind} onChange={(event) => setKind(Number(event.target.value))}>
          {kinds.map(([value, text]) =>
            mayAll || value === incoming ? (
              <option key={value} value={value}>
                {text}
              </option>
            ) : null,
          )}
        </select>
      </Field>
      {kind === outgoing && (
        <Field label={t('addressThatIsCalled')}>
          <input type="url" value={url} required maxLength={1_000} onChange={(event) => setUrl(event.target.value)} />
        </Field>
      )}
      <button type="submit" className="primary" disabled={task.isBusy || !isComplete}>
        {t('createTheBot')}
      </button>
      <Outcome task={task} />
    </form>
  );
}

function BotCard({ bot, load }: { bot: Bot; load: Load }) {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const [key, setKey] = useState<string>();
  const task = useTask();
  const { user_id: bot_id, full_name: name, email, bot_owner_id: owner } = bot;
  const show = (): void => void task.run(async () => setKey((await client.getBotApiKey({ bot_id })).api_key));
  const renew = (): void =>
    void task.run(async () => setKey((await client.regenerateBotApiKey({ bot_id })).api_key), t('olderKeysHaveEnded'));
  const deactivate = (): void =>
    void task.run(async () => {
      await client.deactivateBot({ bot_id });
      await load();
    });
  return (
    <li>
      <p className="card-head">
        <bdi>{name}</bdi>
        <span className="faint">
          {kinds.find(([value]) => value === bot.bot_type)?.[1]}
          {typeof owner === 'number' &&
            owner !== model.ownId &&
            `, ${t('ofOwner', { name: personName(model, owner) })}`}
        </span>
      </p>
      <p className="code-line faint">{email}</p>
      {key !== undefined && (
        <Field label={t('apiKeyOf', { name })}>
          <input className="code" readOnly value={key} onFocus={(event) => event.target.select()} />
        </Field>
      )}
      <div className="card-tools">
        {key === undefined && (
          <button type="button" className="plain" disabled={task.isBusy} onClick={show}>
            <Phrase short={t('showTheKey')} full={t('showKeyOf', { name })} />
          </button>
        )}
        <ConfirmButton
          action={t('makeANewKey')}
          full={t('makeNewKeyFor', { name })}
          isDisabled={task.isBusy}
          onConfirm={renew}
        />
        <ConfirmButton
          action={t('deactivate')}
          full={t('deactivateName', { name })}
          isDisabled={task.isBusy}
          onConfirm={deactivate}
        />
      </div>
      <Outcome task={task} />
    </li>
  );
}
