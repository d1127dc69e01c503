import { mayChangeInRealm } from '../state/permissions.ts';
import type { SettingValue } from '../state/realm.ts';
import { t } from '../text/text.ts';
import { Check } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { SelectOptions } from './select-options.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { type Task, useTask } from './use-task.ts';

type Changes = Parameters<ReturnType<typeof useSession>['client']['updateRealm']>[0];

const joining = [
  ['invite_required', t('onlyInvitedPeopleMayJoin')],
  ['invite_links_verify_email', t('verifyTheAddressOfThoseWhoJoin')],
  ['send_welcome_emails', t('sendAMailThatWelcomesNewcomers')],
] as const;
const profiles = [
  ['require_unique_names', t('noTwoPeopleMayHaveTheSame')],
  ['name_changes_disabled', t('peopleMayNotChangeTheirNames')],
  ['email_changes_disabled', t('peopleMayNotChangeTheirAddresses')],
  ['avatar_changes_disabled', t('peopleMayNotChangeTheirPictures')],
  ['presence_disabled', t('nobodySeesWhoIsOnline')],
  ['enable_read_receipts', t('peopleSeeWhoHasReadAMessage')],
] as const;
const messages = [
  ['allow_message_editing', t('peopleMayEditTheirMessages')],
  ['inline_image_preview', t('showLinkedPicturesBelowMessages')],
  ['inline_url_embed_preview', t('showWhatIsOnLinkedPagesBelow')],
  ['send_channel_events_messages', t('postAMessageWhenTheSettingsOf')],
  ['message_content_allowed_in_email_notifications', t('mailsMayContainTheTextOfMessages')],
  ['digest_emails_enabled', t('mailDigestsToPeopleWhoWereAway')],
] as const;

const limits = [
  ['message_content_edit_limit_seconds', t('timeToEditAMessage')],
  ['message_content_delete_limit_seconds', t('timeToDeleteAMessage')],
  ['move_messages_within_stream_limit_seconds', t('timeToMoveToTopic')],
  ['move_messages_between_streams_limit_seconds', t('timeToMoveToChannel')],
] as const;
const durations: readonly (readonly [number, string])[] = [
  [120, t('minutes', { count: 2 })],
  [600, t('minutes', { count: 10 })],
  [3_600, t('hours', { count: 1 })],
  [86_400, t('days', { count: 1 })],
  [604_800, t('weeks', { count: 1 })],
];
const choices = [
  {
    name: 'message_edit_history_visibility_policy',
    label: t('earlierVersionsOfMessages'),
    options: [
      ['all', t('everybodySeesEditsAndMoves')],
      ['moves', t('everybodySeesMovesAlone')],
      ['none', t('nobodySeesThem')],
    ],
  },
  {
    name: 'topics_policy',
    label: t('topicsInChannels'),
    options: [
      ['allow_empty_topic', t('mayBeLeftOut')],
      ['disable_empty_topic', t('areRequired')],
    ],
  },
  {
    name: 'default_language',
    label: t('languageOfMailsAndNotices'),
    options: [
      ['en', 'English'],
      ['de', 'Deutsch'],
      ['fr', 'Français'],
    ],
  },
] as const;

/** Each setting is saved when it is changed. */
export function OrganizationSettings() {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const { settings } = model.realm;
  const task = useTask();
  const set = (name: string, value: SettingValue): void =>
    void task.run(() => client.updateRealm({ [name]: value as unknown } as Changes), t('saved'));
  const checks = (all: readonly (readonly [string, string])[]) =>
    all.map(([name, label]) => (
      <Check
        key={name}
        label={label}
        isOn={settings[name] === true}
        isDisabled={task.isBusy || !mayChangeInRealm(model, name)}
        onChange={(isOn) => set(name, isOn)}
      />
    ));
  return (
    <>
      <fieldset className="stack">
        <legend>{t('joining')}</legend>
        {checks(joining)}
      </fieldset>
      <fieldset className="stack">
        <legend>{t('profiles')}</legend>
        {checks(profiles)}
      </fieldset>
      <fieldset className="stack">
        <legend>{t('messages')}</legend>
        {checks(messages)}
        {limits.map(([name, label]) => (
          <Limit key={name} label={label} value={settings[name] ?? null} task={task} onChange={(to) => set(name, to)} />
        ))}
        {choices.map(({ name, label, options }) => (
          <label key={name} className="permission">
            <span>{label}</span>
            <select
              value={String(settings[name])}
              disabled={task.isBusy}
              onChange={(event) => set(name, event.target.value)}
            >
              <SelectOptions of={options} />
            </select>
          </label>
        ))}
      </fieldset>
      <Outcome task={task} />
    </>
  );
}

interface LimitProps {
  label: string;
  value: SettingValue;
  task: Task;
  onChange: (value: number | 'unlimited') => void;
}

/** A number of seconds, or no limit. */
function Limit({ label, value, task, onChange }: LimitProps) {
  const isListed = value === null || durations.some(([seconds]) => seconds === value);
  return (
    <label className="permission">
      <span>{label}</span>
      <select
        value={value === null ? 'unlimited' : String(value)}
        disabled={task.isBusy}
        onChange={(event) => onChange(event.target.value === 'unlimited' ? 'unlimited' : Number(event.target.value))}
      >
        <option value="unlimited">{t('noLimit')}</option>
        <SelectOptions of={durations} />
        {!isListed && <option value={String(value)}>{t('seconds', { count: Number(value) })}</option>}
      </select>
    </label>
  );
}
