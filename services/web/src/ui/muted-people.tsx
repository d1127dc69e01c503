import { t } from '../text/text.ts';
import { personName } from './names.ts';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

/** Hides the messages of a person, or shows them again. */
export function MuteButton({ userId }: { userId: number }) {
  const { client } = useSession();
  const isMuted = useSelected(({ model }) => model.muted.has(userId));
  const task = useTask();
  const change = (): void => {
    const call = isMuted ? client.unmuteUser : client.muteUser;
    void task.run(() => call({ muted_user_id: userId }));
  };
  return (
    <>
      <button type="button" className="plain" disabled={task.isBusy} onClick={change}>
        {isMuted ? t('unmute') : t('mute')}
      </button>
      {task.problem !== undefined && (
        <span role="alert" className="alarm">
          {task.problem}
        </span>
      )}
    </>
  );
}

/** The people whose messages the reader does not see. */
export function MutedPeople() {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const task = useTask();
  return (
    <>
      <h3>{t('mutedPeople')}</h3>
      {model.muted.size === 0 && <p className="faint">{t('nobodyAProfileHasAButtonTo')}</p>}
      <ul className="cards" aria-label={t('mutedPeople')}>
        {[...model.muted].map((id) => (
          <li key={id} className="row">
            <bdi>{personName(model, id)}</bdi>
            <button
              type="button"
              className="plain"
              disabled={task.isBusy}
              onClick={() => void task.run(() => client.unmuteUser({ muted_user_id: id }), t('unmuted'))}
            >
              <Phrase short={t('unmute')} full={t('unmuteName', { name: personName(model, id) })} />
            </button>
          </li>
        ))}
      </ul>
      <Outcome task={task} />
    </>
  );
}
