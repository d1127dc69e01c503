import { useState } from 'react';
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

const sections = ['Profile', 'Appearance', 'Notifications', 'Access', 'Bots'] as const;
type Section = (typeof sections)[number];

/** The settings of the person. */
export default function Settings() {
  const [section, setSection] = useState<Section>('Profile');
  return (
    <Modal title="Settings" isWide>
      <Sections title="Settings" names={sections} current={section} onChoose={setSection} />
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
        <legend>Colors</legend>
        {themes.map((one) => (
          <label key={one} className="check">
            <input type="radio" name="theme" checked={one === theme} onChange={() => choose(one)} />
            <span>{themeNames[one]}</span>
          </label>
        ))}
      </fieldset>
      <Field label="Language of dates">
        <select
          defaultValue={dateLanguage() ?? ''}
          onChange={(event) => {
            setDateLanguage(event.target.value);
            location.reload();
          }}
        >
          <option value="">Same as the browser</option>
          {dateLanguages.map((one) => (
            <option key={one} value={one} lang={one}>
              {new Intl.DisplayNames(one, { type: 'language' }).of(one)}
            </option>
          ))}
        </select>
      </Field>
      <p className="faint">These are settings of this browser alone.</p>
    </>
  );
}

const notifications = [
  ['enable_desktop_notifications', 'Notify of direct messages and mentions on this desktop'],
  ['enable_stream_desktop_notifications', 'Notify of all messages in channels on this desktop'],
  ['enable_followed_topic_desktop_notifications', 'Notify of messages in followed topics on this desktop'],
  ['enable_sounds', 'Play a sound with notifications'],
  ['wildcard_mentions_notify', 'Treat mentions of everybody like personal ones'],
  ['enable_offline_email_notifications', 'Mail direct messages and mentions while I am away'],
  ['enable_offline_push_notifications', 'Notify phones while I am away'],
  ['enable_digest_emails', 'Mail a digest when I was away for long'],
  ['enable_login_emails', 'Mail me when somebody logs in as me'],
] as const;
const sharing = [
  ['presence_enabled', 'Show others whether I am online'],
  ['send_read_receipts', 'Show others what I have read'],
  ['send_private_typing_notifications', 'Show others that I write a direct message'],
  ['send_stream_typing_notifications', 'Show others that I write in a channel'],
  ['receives_typing_notifications', 'Show me who is writing'],
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
        onChange={(isOn) => void task.run(() => client.updateSettings({ [name]: isOn }), 'Saved.')}
      />
    ));
  return (
    <>
      <fieldset className="stack">
        <legend>Notifications</legend>
        {checks(notifications)}
      </fieldset>
      <BrowserNotifications />
      <fieldset className="stack">
        <legend>What others see</legend>
        {checks(sharing)}
      </fieldset>
      <Outcome task={task} />
    </>
  );
}
