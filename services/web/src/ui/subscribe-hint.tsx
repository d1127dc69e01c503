import { t } from '../text/text.ts';
import { currentName } from './current-name.ts';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

/** Stands in place of the compose box of a channel that the reader has not joined. */
export function SubscribeHint({ channelId }: { channelId: number }) {
  const { client } = useSession();
  const task = useTask();
  const isArchived = useSelected(({ model }) => model.archived.has(channelId));
  const listed = useSelected(({ model }) => model.listed?.get(channelId));
  const channel = isArchived ? undefined : listed;
  const subscribe = (): void =>
    void task.run(async () => client.subscribe({ subscriptions: [{ name: await currentName(client, channelId) }] }));
  return (
    <div className="compose-hint">
      <p>{t(isArchived ? 'thisChannelIsArchived' : 'youAreNotSubscribedToThisChannel')}</p>
      {channel && (
        <button type="button" className="primary" disabled={task.isBusy} onClick={subscribe}>
          <Phrase short={t('subscribe')} full={t('subscribeName', { name: channel.name })} />
        </button>
      )}
      <Outcome task={task} />
    </div>
  );
}
