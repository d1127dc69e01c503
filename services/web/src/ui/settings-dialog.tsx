import { useState } from 'react';
import { t } from '../text/text.ts';
import { AlertWords } from './alert-words.tsx';
import { Check } from './field.tsx';
import { Modal } from './modal.tsx';
import { MutedPeople } from './muted-people.tsx';
import { Outcome } from './outcome.tsx';
import { Sections } from './sections.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { Access } from './settings-access.tsx';
import { Appearance } from './settings-appearance.tsx';
import { Bots } from './settings-bots.tsx';
import { BrowserNotifications } from './settings-browser.tsx';
import { Password, Profile } from './settings-profile.tsx';
import { OwnFields } from './settings-profile-fields.tsx';
import { Reading, Writing } from './settings-writing.tsx';
import { type Task, useTask } from './use-task.ts';

const sections = {
  profile: t('profile'),
  appearance: t('appearance'),
  writing: t('readingAndWriting'),
  notifications: t('notifications'),
  access: t('access'),
  bots: t('bots'),
};
type Section = keyof typeof sections;
const names = Object.entries(sections) as [Section, string][];

/** The settings of the person. */
export default function Settings() {
  const [section, setSection] = useState<Section>('profile');
  return (
    <Modal title={t('settings')} isWide>
      <Sections title={t('settings')} names={names} current={section} onChoose={setSection} />
      {section === 'profile' && (
        <>
          <Profile />
          <OwnFields />
          <Password />
        </>
      )}
      {section === 'appearance' && <Appearance />}
      {section === 'writing' && (
        <>
          <Reading />
          <Writing />
        </>
      )}
      {section === 'notifications' && (
        <>
          <Notifications />
          <AlertWords />
          <MutedPeople />
        </>
      )}
      {section === 'access' && <Access />}
      {section === 'bots' && <Bots />}
    </Modal>
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
  const task = useTask();
  return (
    <>
      <fieldset className="stack">
        <legend>{t('notifications')}</legend>
        <Choices all={notifications} task={task} />
      </fieldset>
      <BrowserNotifications />
      <fieldset className="stack">
        <legend>{t('whatOthersSee')}</legend>
        <Choices all={sharing} task={task} />
      </fieldset>
      <Outcome task={task} />
    </>
  );
}

interface ChoicesProps {
  all: readonly (readonly [name: string, label: string])[];
  task: Task;
}

/** Renders check boxes for settings that are on or off. */
function Choices({ all, task }: ChoicesProps) {
  const { client } = useSession();
  const settings = useSelected(({ model }) => model.writing.settings);
  return all.map(([name, label]) => (
    <Check
      key={name}
      label={label}
      isOn={settings[name] === true}
      isDisabled={task.isBusy}
      onChange={(isOn) => void task.run(() => client.updateSettings({ [name]: isOn }), t('saved'))}
    />
  ));
}
