import type { ChatEvent } from '@natter/client';
import { type FormEvent, useCallback } from 'react';
import type { Model } from '../state/model.ts';
import { isPermitted, may } from '../state/permissions.ts';
import type { GroupSetting } from '../state/writing-snapshot.ts';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { currentName } from './current-name.ts';
import { Field } from './field.tsx';
import { MembersField } from './members-field.tsx';
import { Outcome } from './outcome.tsx';
import { PermissionFields } from './permission-field.tsx';
import { SelectOptions } from './select-options.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useChannelData } from './use-channel-data.ts';
import { useForm } from './use-form.ts';
import { type Task, useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
type Changes = Omit<Parameters<Client['updateChannel']>[0], 'stream_id'>;

/** A channel as the API describes it. */
interface Channel {
  stream_id: number;
  name: string;
  description: string;
  invite_only: boolean;
  is_web_public: boolean;
  history_public_to_subscribers: boolean;
  topics_policy: string;
  folder_id: number | null;
}
type Described = Channel & Readonly<Record<string, unknown>>;

const permissions = {
  can_send_message_group: t('sendMessages'),
  can_subscribe_group: t('subscribeEvenIfTheChannelIsPrivate'),
  can_add_subscribers_group: t('subscribeOthers'),
  can_remove_subscribers_group: t('unsubscribeOthers'),
  can_move_messages_within_channel_group: t('moveMessagesToOtherTopics'),
  can_move_messages_out_of_channel_group: t('moveMessagesToOtherChannels'),
  can_resolve_topics_group: t('markTopicsAsResolved'),
  can_delete_own_message_group: t('deleteOwnMessages'),
  can_delete_any_message_group: t('deleteMessagesOfOthers'),
  can_administer_channel_group: t('changeTheseSettings'),
} as const;

const permissionValue = (channel: Described, name: string): GroupSetting => channel[name] as GroupSetting;
const isIncluded = (model: Model, channel: Described, name: string): boolean =>
  isPermitted(model, 'stream', name, permissionValue(channel, name));
const mayAdminister = (model: Model, channel: Described): boolean =>
  model.rules.isAdministrator || isIncluded(model, channel, 'can_administer_channel_group');

/** The subscribers of a channel and, for its administrators, its settings. */
export function ChannelSettings({ id }: { id: number }) {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const fetch = useCallback(
    async () => (await client.getChannel({ stream_id: id })).stream as unknown as Described,
    [client, id],
  );
  const { data: channel, loading, change } = useChannelData(fetch);
  if (!channel)
    return (
      <div className="panel">
        {loading.problem === undefined && <p role="status">{t('loading')}</p>}
        <Outcome task={loading} />
      </div>
    );
  const update = (changes: Changes): Promise<unknown> =>
    change(() => client.updateChannel({ stream_id: id, ...changes }));
  return (
    <div className="panel">
      <Subscribers channel={channel} />
      {mayAdminister(model, channel) && (
        <>
          <Names channel={channel} update={update} />
          <Choices channel={channel} update={update} />
          <h4>{t('whoMay')}</h4>
          <PermissionFields
            level="stream"
            permissions={permissions}
            holdersOf={(name) => permissionValue(channel, name)}
            onSave={(changes) => update(changes as Changes)}
          />
          <Archive channel={channel} update={update} />
        </>
      )}
      <Outcome task={loading} />
    </div>
  );
}

function changesSubscribers(event: ChatEvent, id: number): boolean {
  if (event.type !== 'subscription') return false;
  if ('stream_ids' in event) return event.stream_ids.includes(id);
  return 'subscriptions' in event && event.subscriptions.some(({ stream_id }) => stream_id === id);
}

function Subscribers({ channel }: { channel: Described }) {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const task = useTask();
  const { stream_id, name } = channel;
  const fetch = useCallback(async () => (await client.getSubscribers({ stream_id })).subscribers, [client, stream_id]);
  const isNews = useCallback((event: ChatEvent) => changesSubscribers(event, stream_id), [stream_id]);
  const { data: people = [], loading, change: changePeople } = useChannelData(fetch, isNews);
  const change = (work: (current: string) => Promise<unknown>): void =>
    void task.run(() => changePeople(async () => work(await currentName(client, stream_id))));
  const isAdministrator = mayAdminister(model, channel);
  const isActive = (id: number): boolean => model.people.get(id)?.isActive ?? false;
  return (
    <>
      <h4>{t('subscribers')}</h4>
      <MembersField
        title={t('subscribersOf', { name })}
        label={t('subscribeAPerson')}
        members={{ people: people.filter(isActive), groups: [] }}
        isDisabled={task.isBusy}
        mayAdd={
          isAdministrator ||
          may(model, 'can_add_subscribers_group') ||
          isIncluded(model, channel, 'can_add_subscribers_group')
        }
        mayRemove={(_, id) =>
          id === model.ownId || isAdministrator || isIncluded(model, channel, 'can_remove_subscribers_group')
        }
        onAdd={(_, id) =>
          change((current) => client.subscribe({ subscriptions: [{ name: current }], principals: [id] }))
        }
        onRemove={(_, id) => change((current) => client.unsubscribe({ subscriptions: [current], principals: [id] }))}
      />
      <Outcome task={task} />
      <Outcome task={loading} />
    </>
  );
}

interface PartProps {
  channel: Described;
  update: (changes: Changes) => Promise<unknown>;
}

function Names({ channel, update }: PartProps) {
  const form = useForm({ new_name: channel.name, description: channel.description });
  const { new_name: name, description } = form.values;
  const task = useTask();
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => form.save(update), t('saved'));
  };
  return (
    <>
      <h4>{t('name')}</h4>
      <form className="stack" onSubmit={save}>
        <Field label={t('nameOfTheChannel')}>
          <input
            value={name}
            required
            maxLength={60}
            onChange={(event) => form.set({ new_name: event.target.value })}
          />
        </Field>
        <Field label={t('description')}>
          <input
            value={description}
            maxLength={1_024}
            onChange={(event) => form.set({ description: event.target.value })}
          />
        </Field>
        <button type="submit" className="primary" disabled={task.isBusy || name.trim() === '' || !form.isChanged}>
          {t('saveTheName')}
        </button>
        <Outcome task={task} />
      </form>
    </>
  );
}

const privacies = [
  ['public', t('everybodyButGuestsCanFindAndRead')],
  ['shared', t('privateNewSubscribersSeeOlderMessages')],
  ['protected', t('privateNewSubscribersDoNotSeeOlder')],
  ['web', t('everybodyOnTheInternetCanReadIt')],
] as const;
type Privacy = (typeof privacies)[number][0];

const privacyOf = ({ invite_only, is_web_public, history_public_to_subscribers }: Channel): Privacy => {
  if (is_web_public) return 'web';
  if (!invite_only) return 'public';
  return history_public_to_subscribers ? 'shared' : 'protected';
};
const changesFor = (privacy: Privacy): Changes => {
  const isPrivate = privacy === 'shared' || privacy === 'protected';
  return {
    is_private: isPrivate,
    is_web_public: privacy === 'web',
    history_public_to_subscribers: privacy !== 'protected',
  };
};

const topicPolicies = [
  ['inherit', t('asTheOrganizationSays')],
  ['allow_empty_topic', t('mayBeLeftOut')],
  ['disable_empty_topic', t('areRequired')],
  ['empty_topic_only', t('topicsNone')],
] as const;

function Choices({ channel, update }: PartProps) {
  const folders = useSelected(({ model }) => model.folders);
  const mayOpen = useSelected(({ model }) => may(model, 'can_create_web_public_channel_group'));
  const task = useTask();
  const save = (changes: Changes): void => void task.run(() => update(changes), t('saved'));
  const privacy = privacyOf(channel);
  return (
    <>
      <h4>{t('settings')}</h4>
      <Choice
        label={t('access')}
        value={privacy}
        options={privacies.filter(([value]) => value !== 'web' || mayOpen || privacy === 'web')}
        task={task}
        onChange={(value) => save(changesFor(value as Privacy))}
      />
      <Choice
        label={t('folderInTheSidebar')}
        value={String(channel.folder_id ?? '')}
        options={[
          ['', t('folderNone')],
          ...folders.filter(({ isArchived }) => !isArchived).map(({ id, name }) => [String(id), name] as const),
        ]}
        task={task}
        onChange={(value) => save({ folder_id: value === '' ? null : Number(value) })}
      />
      <Choice
        label={t('topics')}
        value={channel.topics_policy}
        options={topicPolicies}
        task={task}
        onChange={(value) => save({ topics_policy: value as 'inherit' })}
      />
      <Outcome task={task} />
    </>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  task: Task;
  onChange: (value: string) => void;
}

function Choice({ label, value, options, task, onChange }: ChoiceProps) {
  return (
    <label className="permission">
      <span>{label}</span>
      <select value={value} disabled={task.isBusy} onChange={(event) => onChange(event.target.value)}>
        <SelectOptions of={options} />
      </select>
    </label>
  );
}

function Archive({ channel, update }: PartProps) {
  const task = useTask();
  return (
    <>
      <p className="card-tools">
        <ConfirmButton
          action={t('archive')}
          full={t('archiveName', { name: channel.name })}
          isDisabled={task.isBusy}
          onConfirm={() => void task.run(() => update({ is_archived: true }))}
        />
      </p>
      <Outcome task={task} />
    </>
  );
}
