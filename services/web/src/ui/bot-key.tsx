import { useState } from 'react';
import type { Bot } from '../state/bots.ts';
import { t } from '../text/text.ts';
import { copy } from './clipboard.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { download } from './download.ts';
import { Field } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

/** The key of a bot, and a file that clients of the API read. */
export function BotKey({ bot: { id, name, email } }: { bot: Bot }) {
  const { client } = useSession();
  const [key, setKey] = useState<string>();
  const task = useTask();
  /** The key may have changed since it was shown. */
  const fetchKey = async (): Promise<string> => {
    const { api_key } = await client.getBotApiKey({ bot_id: id });
    return api_key;
  };
  const show = (): void => void task.run(async () => setKey(await fetchKey()));
  const renew = (): void =>
    void task.run(
      async () => setKey((await client.regenerateBotApiKey({ bot_id: id })).api_key),
      t('olderKeysHaveEnded'),
    );
  const save = (): void =>
    void task.run(async () =>
      download('zuliprc', `[api]\nemail=${email}\nkey=${await fetchKey()}\nsite=${location.origin}\n`),
    );
  return (
    <>
      {key !== undefined && (
        <Field label={t('apiKeyOf', { name })}>
          <input className="code" readOnly value={key} onFocus={(event) => event.target.select()} />
        </Field>
      )}
      <div className="card-tools">
        {key === undefined ? (
          <button type="button" className="plain" disabled={task.isBusy} onClick={show}>
            <Phrase short={t('showTheKey')} full={t('showKeyOf', { name })} />
          </button>
        ) : (
          <button
            type="button"
            className="plain"
            disabled={task.isBusy}
            onClick={() => void task.run(() => copy(key), t('copied'))}
          >
            <Phrase short={t('copyTheKey')} full={t('copyKeyOf', { name })} />
          </button>
        )}
        <button type="button" className="plain" disabled={task.isBusy} onClick={save}>
          <Phrase short={t('downloadZuliprc')} full={t('downloadZuliprcOf', { name })} />
        </button>
        <ConfirmButton
          action={t('makeANewKey')}
          full={t('makeNewKeyFor', { name })}
          isDisabled={task.isBusy}
          onConfirm={renew}
        />
      </div>
      <Outcome task={task} />
    </>
  );
}
