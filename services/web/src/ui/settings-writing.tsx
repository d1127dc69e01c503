import { scrollPolicies } from '../state/scroll-policy.ts';
import { t } from '../text/text.ts';
import { useEnterSends } from './enter-sends.ts';
import { Check } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

const policies = [
  [scrollPolicies.always, t('inAllLists')],
  [scrollPolicies.inConversations, t('inTopicsAndDirectMessagesAlone')],
  [scrollPolicies.never, t('notByThemselves')],
] as const;

/** The lists in which messages on screen count as read. */
export function Reading() {
  const { client } = useSession();
  const chosen = useSelected(({ model }) => model.writing.settings.web_mark_read_on_scroll_policy);
  const task = useTask();
  return (
    <>
      <fieldset className="stack">
        <legend>{t('messagesOnScreenCountAsRead')}</legend>
        {policies.map(([value, label]) => (
          <label key={value} className="check">
            <input
              type="radio"
              name="scroll-policy"
              checked={value === chosen}
              onChange={() =>
                void task.run(() => client.updateSettings({ web_mark_read_on_scroll_policy: value }), t('saved'))
              }
            />
            <span>{label}</span>
          </label>
        ))}
        <Outcome task={task} />
      </fieldset>
      <p className="faint">{t('searchesAndStarsNeverRead')}</p>
    </>
  );
}

/** The function of Enter in this browser. */
export function Writing() {
  const [isChosen, choose] = useEnterSends();
  return (
    <>
      <fieldset className="stack">
        <legend>{t('writing')}</legend>
        <Check label={t('sendWithEnter')} isOn={isChosen} onChange={choose} />
      </fieldset>
      <p className="faint">{t('controlEnterAlwaysSends')}</p>
    </>
  );
}
