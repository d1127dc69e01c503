import { useCallback, useState } from 'react';
import { t } from '../text/text.ts';
import { shortTime } from './dates.ts';
import { Field } from './field.tsx';
import { useAskedLogOut } from './log-out.ts';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { useSession } from './session-context.tsx';
import { useLoaded } from './use-loaded.ts';
import { useTask } from './use-task.ts';

/** Sessions and API keys of the person. */
export function Access() {
  const { client } = useSession();
  const [key, setKey] = useState<string>();
  const [isSure, setSure] = useState(false);
  const task = useTask();
  const fetch = useCallback(async () => (await client.getApiKeys()).api_keys, [client]);
  const { data: all = [], loading, change } = useLoaded(fetch);
  const makeKey = async (): Promise<void> => {
    setKey((await client.regenerateApiKey()).api_key);
    setSure(false);
  };
  const renew = (): void => void task.run(() => change(makeKey), t('allOtherSessionsAndApiKeysHave'));
  return (
    <>
      <h3>{t('sessionsAndApiKeys')}</h3>
      <ul className="cards">
        {all.map(({ id, client: name, date_created, is_current, is_session }) => (
          <li key={id} className="row">
            <span>
              <bdi>{name || (is_session ? t('browser') : t('apiKey'))}</bdi>{' '}
              <span className="faint">
                {t(name === '' ? 'since' : is_session ? 'sessionSince' : 'apiKeySince', {
                  time: shortTime(date_created),
                })}
              </span>
            </span>
            {is_current ? (
              <span className="faint">{t('thisSession')}</span>
            ) : (
              <button
                type="button"
                className="plain"
                disabled={task.isBusy}
                onClick={() => void task.run(() => change(() => client.revokeApiKey({ key_id: id })), t('ended'))}
              >
                <Phrase short={t('endSession')} full={t('endName', { name })} />
              </button>
            )}
          </li>
        ))}
      </ul>
      <form method="post" action="/accounts/logout" onSubmit={useAskedLogOut(true)} className="stack">
        <input type="hidden" name="everywhere" value="true" />
        <p className="faint">{t('endsAllSessionsAndApiKeysAnd')}</p>
        <button type="submit" className="danger">
          {t('logOutEverywhere')}
        </button>
      </form>
      <h3>{t('newApiKey')}</h3>
      <p className="faint">{t('aNewKeyEndsAllOthersAnd')}</p>
      {isSure ? (
        <p className="card-tools">
          <button type="button" className="danger" disabled={task.isBusy} onClick={renew}>
            {t('endTheOthersAndMakeAKey')}
          </button>
          <button type="button" className="plain" onClick={() => setSure(false)}>
            {t('cancel')}
          </button>
        </p>
      ) : (
        <button type="button" className="plain" onClick={() => setSure(true)}>
          {t('makeANewApiKey')}
        </button>
      )}
      {key !== undefined && (
        <Field label={t('yourApiKeyItIsNotShown')}>
          <input readOnly value={key} onFocus={(event) => event.target.select()} />
        </Field>
      )}
      <Outcome task={task} />
      <Outcome task={loading} />
    </>
  );
}
