import { useState } from 'react';
import { t } from '../text/text.ts';
import { dateLanguage, dateLanguages, setDateLanguage } from './dates.ts';
import { Check, Field } from './field.tsx';
import { Modal } from './modal.tsx';
import { MutedPeople } from './muted-people.tsx';
import { Outcome } from './outcome.tsx';
import { Sections } from './sections.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { Access } from './settings-access.tsx';
import { Bots } from './settings-bots.tsx';
import { BrowserNotifications } from './settings-browser.tsx';
import { Password, Profile } from './settings-profile.tsx';
import { OwnFields } from './settings-profile-fields.tsx';
import { applyTheme, currentTheme, type Theme, themeNames, themes } from './theme.ts';
import { useTask } from './use-task.ts';

const sections = [t('profile'), t('appearance'), t('notifications'), t('access'), t('bots')] as const;
type Section = (typeof sections)[number];

/** The settings of the person. */
export default function Settings() {
  const [section, setSection] = useState<Section>(t('profile'));
  return (
    <Modal title={t('settings')} isWide>
      <Sections title={t('settings')} names={sections} current={section} onChoose={setSection} />
      {section === 'Profile' && (
        <>
          <Profile />
          <OwnFields />
          <Password />
        </>
      )}
      {section === 'Appearance' && <Appearance />}
      {section === 'Notifications' && (
        <>
          <Notifications />
          <MutedPeople />
        </>
      )}
      {section === 'Access' && <Access />}
      {section === 'Bots' && <Bots />}
    </Modal>
  );
}

function Appearance() {
  const [theme, setTheme] = useState(currentTheme);
  const choose = (next: Theme): void => {
    applyTheme(next);
    setTheme(next);
  };
  return (
    <>
      <fieldset className="stack">
        <legend>{t('colors')}</legend>
        {themes.map((one) => (
          <label key={one} className="check">
            <input type="radio" name="theme" checked={one === theme} onChange={() => choose(one)} />
            <span>{themeNames[one]}</span>
          </label>
        ))}
      </fieldset>
      <Field label={t('languageOfDates')}>
        <select
          defaultValue={dateLanguage() ?? ''}
          onChange={(event) => {
            setDateLanguage(event.target.value);
            location.reload();
          }}
        >
          <option value="">{t('sameAsTheBrowser')}</option>
          {dateLanguages.map((one) => (
            <option key={one} value={one} lang={one}>
              {new Intl.DisplayNames(one, { type: 'language' }).of(one)}
            </option>
          ))}
        </select>
      </Field>
      <p className="faint">{t('theseAreSettingsOfThisBrowserAlone')}</p>
    </>
  );
}

const notifications = [
  ['enable_desktop_notifications', t('notifyOfDirectMessagesAndMentionsOn')],
  ['enable_stream_desktop_notifications', t('notifyOfAllMessagesInChannelsOn')],
  ['enable_followed_topic_desktop_notifications', t('notifyOfMessagesInFollowedTopicsOn')],
  ['enable_sounds', t('playASoundWithNotifications')],
  ['wildcard_mentions_notify', t('treatMentionsOfEverybodyLikePersonalOnes')],
  ['enable_offline_email_notifications', t('mailDirectMessagesAndMentionsWhileI')],
  ['enable_offline_push_notifications', t('notifyPhonesWhileIAmAway')],
  ['enable_digest_emails', t('mailADigestWhenIWasAway')],
  ['enable_login_emails', t('mailMeWhenSomebodyLogsInAs')],
] as const;
const sharing = [
  ['presence_enabled', t('showOthersWhetherIAmOnline')],
  ['send_read_receipts', t('showOthersWhatIHaveRead')],
  ['send_private_typing_notifications', t('showOthersThatIWriteADirect')],
  ['send_stream_typing_notifications', t('showOthersThatIWriteInA')],
  ['receives_typing_notifications', t('showMeWhoIsWriting')],
] as const;

function Notifications() {
  const { client } = useSession();
  const settings = useSelected(({ model }) => model.writing.settings);
  const task = useTask();
  const checks = (all: readonly (readonly [string, string])[]) =>
    all.map(([name, label]) => (
      <Check
        key={name}
        label={label}
        isOn={settings[name] === true}
        isDisabled={task.isBusy}
        onChange={(isOn) => void task.run(() => client.updateSettings({ [name]: isOn }), t('saved'))}
      />
    ));
  return (
    <>
      <fieldset className="stack">
        <legend>{t('notifications')}</legend>
        {checks(notifications)}
      </fieldset>
      <BrowserNotifications />
      <fieldset className="stack">
        <legend>{t('whatOthersSee')}</legend>
        {checks(sharing)}
      </fieldset>
      <Outcome task={task} />
    </>
  );
}
