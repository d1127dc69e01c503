import { type FormEvent, useState } from 'react';
import { may, mayChangeMembers, mayManageGroup } from '../state/permissions.ts';
import type { Group } from '../state/writing-snapshot.ts';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Field } from './field.tsx';
import { ownGroups } from './groups.ts';
import { MembersField } from './members-field.tsx';
import { Outcome } from './outcome.tsx';
import { PermissionFields } from './permission-field.tsx';
import { Phrase } from './phrase.tsx';
import { SearchField } from './search-field.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
import { useNewForm } from './use-new-form.ts';
import { type Task, useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
type Changes = Omit<Parameters<Client['updateUserGroup']>[0], 'user_group_id'>;

const permissions = {
  can_manage_group: t('manageTheGroup'),
  can_add_members_group: t('addMembers'),
  can_remove_members_group: t('removeMembers'),
  can_join_group: t('joinTheGroup'),
  can_leave_group: t('leaveTheGroup'),
  can_mention_group: t('mentionTheGroup'),
} as const;

/** The groups that people made. Groups of roles cannot be changed. */
export function Groups() {
  const model = useSelected((state) => state.model);
  const [filter, setFilter] = useState('');
  const creation = useNewForm();
  const [open, setOpen] = useState<number>();
  const all = ownGroups(model);
  const wanted = filter.trim().toLowerCase();
  const found = all.filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <>
      <div className="row">
        <SearchField label={t('findGroups')} text={filter} onChange={setFilter} />
        {may(model, 'can_create_groups') && <button {...creation.button}>{t('newGroup')}</button>}
      </div>
      {creation.isOpen && (
        <NewGroup task={creation.task} onMade={(id) => setOpen((now) => now ?? id)} onEmptied={creation.close} />
      )}
      <Outcome task={creation.task} />
      <ul className="cards">
        {found.map((group) => (
          <li key={group.id}>
            <div className="row">
              <span className="grow">
                <bdi>
                  <b>{group.name}</b>
                </bdi>{' '}
                <span className="faint">{countOf(group)}</span>
              </span>
              <button
                type="button"
                className="plain"
                aria-expanded={open === group.id}
                onClick={() => setOpen(open === group.id ? undefined : group.id)}
              >
                <Phrase short={t('details')} full={t('detailsOf', { name: group.name })} />
              </button>
            </div>
            {group.description !== '' && (
              <p className="excerpt" dir="auto">
                {group.description}
              </p>
            )}
            {open === group.id && <Details group={group} />}
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p className="faint">{all.length === 0 ? t('thereAreNoGroupsYet') : t('noGroupHasSuchAName')}</p>
      )}
    </>
  );
}

function countOf({ members, subgroups }: Group): string {
  const people = t('peopleCount', { count: members.size });
  return subgroups.length === 0 ? people : `${people}, ${t('groupCount', { count: subgroups.length })}`;
}

interface NewGroupProps {
  task: Task;
  onMade: (id: number) => void;
  onEmptied: (form: HTMLFormElement) => void;
}

function NewGroup({ task, onMade, onEmptied }: NewGroupProps) {
  const session = useSession();
  const form = useForm({ name: '', description: '' });
  const send = async (texts: typeof form.values): Promise<void> => {
    const members = [session.state.model.ownId];
    onMade((await session.client.createUserGroup({ ...texts, members })).group_id);
  };
  const create = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const element = event.currentTarget;
    void task.run(async () => {
      if (await form.add(send)) onEmptied(element);
    }, t('theGroupIsCreated'));
  };
  return (
    <form className="stack panel" onSubmit={create}>
      <NameFields
        {...form.values}
        onName={(name) => form.set({ name })}
        onDescription={(description) => form.set({ description })}
      />
      <button type="submit" className="primary" disabled={task.isBusy || form.values.name.trim() === ''}>
        {t('createTheGroup')}
      </button>
    </form>
  );
}

interface NameFieldsProps {
  name: string;
  description: string;
  onName: (name: string) => void;
  onDescription: (description: string) => void;
}

function NameFields({ name, description, onName, onDescription }: NameFieldsProps) {
  return (
    <>
      <Field label={t('nameOfTheGroup')}>
        <input value={name} required maxLength={100} onChange={(event) => onName(event.target.value)} />
      </Field>
      <Field label={t('groupPurpose')}>
        <input value={description} maxLength={1_024} onChange={(event) => onDescription(event.target.value)} />
      </Field>
    </>
  );
}

function Details({ group }: { group: Group }) {
  const model = useSelected((state) => state.model);
  return (
    <div className="panel">
      <MembersOf group={group} />
      {mayManageGroup(model, group) && <Manage group={group} />}
      {(mayManageGroup(model, group) || model.rules.isAdministrator) && <End group={group} />}
    </div>
  );
}

function MembersOf({ group }: { group: Group }) {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const task = useTask();
  const isManager = mayManageGroup(model, group);
  const allowed = mayChangeMembers(model, group);
  const isMember = group.members.has(model.ownId);
  const change = (what: Omit<Parameters<Client['updateUserGroupMembers']>[0], 'user_group_id'>): void =>
    void task.run(() => client.updateUserGroupMembers({ user_group_id: group.id, ...what }));
  return (
    <>
      <h4>{t('members')}</h4>
      <MembersField
        title={t('membersOf', { name: group.name })}
        label={isManager ? t('addAPersonOrGroup') : t('addAPerson')}
        members={{ people: [...group.members], groups: group.subgroups }}
        groups={isManager ? [...model.writing.groups.keys()].filter((id) => id !== group.id) : []}
        isDisabled={task.isBusy}
        mayAdd={allowed.add}
        mayRemove={(kind) => (kind === 'people' ? allowed.remove : isManager)}
        onAdd={(kind, id) => change(kind === 'people' ? { add: [id] } : { add_subgroups: [id] })}
        onRemove={(kind, id) => change(kind === 'people' ? { delete: [id] } : { delete_subgroups: [id] })}
      />
      {!isMember && allowed.join && (
        <button type="button" className="plain" disabled={task.isBusy} onClick={() => change({ add: [model.ownId] })}>
          <Phrase short={t('join')} full={t('joinName', { name: group.name })} />
        </button>
      )}
      {isMember && allowed.leave && (
        <button
          type="button"
          className="plain"
          disabled={task.isBusy}
          onClick={() => change({ delete: [model.ownId] })}
        >
          <Phrase short={t('leave')} full={t('leaveName', { name: group.name })} />
        </button>
      )}
      <Outcome task={task} />
    </>
  );
}

function Manage({ group }: { group: Group }) {
  const { client } = useSession();
  const form = useForm({ name: group.name, description: group.description });
  const task = useTask();
  const update = (changes: Changes) => client.updateUserGroup({ user_group_id: group.id, ...changes });
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => form.save(update), t('saved'));
  };
  return (
    <>
      <h4>{t('name')}</h4>
      <form className="stack" onSubmit={save}>
        <NameFields
          {...form.values}
          onName={(name) => form.set({ name })}
          onDescription={(description) => form.set({ description })}
        />
        <button
          type="submit"
          className="primary"
          disabled={task.isBusy || form.values.name.trim() === '' || !form.isChanged}
        >
          {t('saveTheName')}
        </button>
        <Outcome task={task} />
      </form>
      <h4>{t('whoMay')}</h4>
      <PermissionFields
        level="group"
        permissions={permissions}
        holdersOf={(name) => group.permissions[name]}
        onSave={(changes) => update(changes as Changes)}
      />
    </>
  );
}

function End({ group }: { group: Group }) {
  const { client } = useSession();
  const task = useTask();
  return (
    <>
      <p className="card-tools">
        <ConfirmButton
          action={t('deactivate')}
          full={t('deactivateName', { name: group.name })}
          isDisabled={task.isBusy}
          onConfirm={() => void task.run(() => client.deactivateUserGroup({ user_group_id: group.id }))}
        />
      </p>
      <Outcome task={task} />
    </>
  );
}
