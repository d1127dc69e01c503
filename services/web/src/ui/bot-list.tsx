import { useState } from 'react';
import { type Bot, isWithoutAddress } from '../state/bots.ts';
import { mayManageBot } from '../state/permissions.ts';
import { t } from '../text/text.ts';
import { kinds } from './bot-fields.tsx';
import { BotForm } from './bot-form.tsx';
import { BotKey } from './bot-key.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { personName } from './names.ts';
import { Outcome } from './outcome.tsx';
import { isOwnPicture } from './own-picture.ts';
import { Phrase } from './phrase.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { type Task, useTask } from './use-task.ts';

interface BotListProps {
  bots: readonly Bot[];
  /** At most this many are shown, and a field beside the list finds the others by name. Without it, all are shown. */
  shown?: number;
  /** The text that is shown if there are no bots. */
  empty: string;
}

/** Active bots, and below them the deactivated ones. */
export function BotList({ bots, shown = Number.POSITIVE_INFINITY, empty }: BotListProps) {
  const isAdministrator = useSelected(({ model }) => model.rules.isAdministrator);
  const { client } = useSession();
  const task = useTask();
  const [active, ended] = [bots.filter(({ isActive }) => isActive), bots.filter(({ isActive }) => !isActive)];
  return (
    <>
      <ul className="cards">
        {active.slice(0, shown).map((bot) => (
          <BotCard key={bot.id} bot={bot} ending={task} />
        ))}
      </ul>
      {active.length === 0 && <p className="faint">{empty}</p>}
      {active.length > shown && <p className="faint">{t('thereAreMoreTypeAName')}</p>}
      <Outcome task={task} />
      {ended.length > 0 && (
        <details className="folded">
          <summary>{t('deactivatedBots')}</summary>
          <ul className="cards">
            {ended.slice(0, shown).map(({ id, name }) => (
              <li key={id} className="row">
                <bdi className="grow">{name}</bdi>
                {isAdministrator && (
                  <button
                    type="button"
                    className="plain"
                    disabled={task.isBusy}
                    onClick={() =>
                      void task.run(() => client.reactivateUser({ user_id: id }), t('isActiveAgain', { name }))
                    }
                  >
                    <Phrase short={t('reactivate')} full={t('reactivateName', { name })} />
                  </button>
                )}
              </li>
            ))}
          </ul>
          {ended.length > shown && <p className="faint">{t('thereAreMoreTypeAName')}</p>}
        </details>
      )}
    </>
  );
}

/** `ending` belongs to the list, because the card of a deactivated bot disappears. */
function BotCard({ bot, ending }: { bot: Bot; ending: Task }) {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const [isOpen, setOpen] = useState(false);
  const change = useTask();
  const { id, name, email, ownerId, picture } = bot;
  const end = (): void => void ending.run(() => client.deactivateBot({ bot_id: id }), t('isDeactivated', { name }));
  return (
    <li>
      <p className="card-head">
        <span>
          {/* Pictures of other hosts are not requested. */}
          {isOwnPicture(picture) && <img className="own-emoji" src={picture} alt="" />} <bdi>{name}</bdi>
        </span>
        <span className="faint">
          {kinds.find(([value]) => value === bot.kind)?.[1]}
          {ownerId !== null && ownerId !== model.ownId && `, ${t('ofOwner', { name: personName(model, ownerId) })}`}
        </span>
      </p>
      <p className="code-line faint">{email}</p>
      {isWithoutAddress(bot) && <p className="outcome alarm">{t('theAddressIsMissing')}</p>}
      {mayManageBot(model, bot) && (
        <>
          <BotKey key={ownerId} bot={bot} />
          <div className="card-tools">
            <button type="button" className="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              <Phrase short={t('change')} full={t('changeName', { name })} />
            </button>
            <ConfirmButton
              action={t('deactivate')}
              full={t('deactivateName', { name })}
              isDisabled={ending.isBusy}
              onConfirm={end}
            />
          </div>
          {isOpen && <BotForm key={ownerId} bot={bot} task={change} />}
        </>
      )}
    </li>
  );
}
