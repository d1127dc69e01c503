import type { SettingValue } from '../state/realm.ts';
import { Check } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { type Task, useTask } from './use-task.ts';

type Changes = Parameters<ReturnType<typeof useSession>['client']['updateRealm']>[0];

const joining = [
  ['invite_required', 'Only invited people may join'],
  ['invite_links_verify_email', 'Verify the address of those who join by a link'],
  ['send_welcome_emails', 'Send a mail that welcomes newcomers'],
] as const;
const profiles = [
  ['require_unique_names', 'No two people may have the same name'],
  ['name_changes_disabled', 'People may not change their names'],
  ['email_changes_disabled', 'People may not change their addresses'],
  ['avatar_changes_disabled', 'People may not change their pictures'],
  ['presence_disabled', 'Nobody sees who is online'],
  ['enable_read_receipts', 'People see who has read a message'],
] as const;
const messages = [
  ['allow_message_editing', 'People may edit their messages'],
  ['inline_image_preview', 'Show linked pictures below messages'],
  ['inline_url_embed_preview', 'Show what is on linked pages below messages'],
  ['send_channel_events_messages', 'Post a message when the settings of a channel change'],
  ['message_content_allowed_in_email_notifications', 'Mails may contain the text of messages'],
  ['digest_emails_enabled', 'Mail digests to people who were away for long'],
] as const;

const limits = [
  ['message_content_edit_limit_seconds', 'Time to edit a message'],
  ['message_content_delete_limit_seconds', 'Time to delete a message'],
  ['move_messages_within_stream_limit_seconds', 'Time to move a message to another topic'],
  ['move_messages_between_streams_limit_seconds', 'Time to move a message to another channel'],
] as const;
const durations: readonly (readonly [number, string])[] = [
  [120, '2 minutes'],
  [600, '10 minutes'],
  [3_600, '1 hour'],
  [86_400, '1 day'],
  [604_800, '1 week'],
];
const choices = [
  {
    name: 'message_edit_history_visibility_policy',
    label: 'Earlier versions of messages',
    options: [
      ['all', 'Everybody sees edits and moves'],
      ['moves', 'Everybody sees moves alone'],
      ['none', 'Nobody sees them'],
    ],
  },
  {
    name: 'topics_policy',
    label: 'Topics in channels',
    options: [
      ['allow_empty_topic', 'May be left out'],
      ['disable_empty_topic', 'Are required'],
    ],
  },
  {
    name: 'default_language',
    label: 'Language of mails and notices',
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
  const settings = useSelected(({ model }) => model.realm.settings);
  const task = useTask();
  const set = (name: string, value: SettingValue): void =>
    void task.run(() => client.updateRealm({ [name]: value as unknown } as Changes), 'Saved.');
  const checks = (all: readonly (readonly [string, string])[]) =>
    all.map(([name, label]) => (
      <Check
        key={name}
        label={label}
        isOn={settings[name] === true}
        isDisabled={task.isBusy}
        onChange={(isOn) => set(name, isOn)}
      />
    ));
  return (
    <>
      <fieldset className="stack">
        <legend>Joining</legend>
        {checks(joining)}
      </fieldset>
      <fieldset className="stack">
        <legend>Profiles</legend>
        {checks(profiles)}
      </fieldset>
      <fieldset className="stack">
        <legend>Messages</legend>
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
              {options.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
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
        <option value="unlimited">No limit</option>
        {durations.map(([seconds, text]) => (
          <option key={seconds} value={seconds}>
            {text}
          </option>
        ))}
        {!isListed && <option value={String(value)}>{String(value)} seconds</option>}
      </select>
    </label>
  );
}
