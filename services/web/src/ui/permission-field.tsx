import { useId, useState } from 'react';
import type { PermissionLevel } from '../state/snapshot.ts';
import type { GroupSetting } from '../state/writing-snapshot.ts';
import { t } from '../text/text.ts';
import { groupName, groupsFor } from './groups.ts';
import { MembersField } from './members-field.tsx';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { useSelected } from './session-context.tsx';
import { type Task, useTask } from './use-task.ts';

interface Permission {
  name: string;
  label: string;
}

/** The old value, as the reader saw it, prevents that a change of another administrator is lost. */
interface Change {
  new: GroupSetting;
  old: GroupSetting;
}

interface PermissionFieldsProps {
  level: PermissionLevel;
  /** The label of each permission, by its name in the API. */
  permissions: Readonly<Record<string, string>>;
  /** Undefined for a permission that the server does not have. */
  holdersOf: (name: string) => GroupSetting | undefined;
  mayChange?: (name: string) => boolean;
  /** Sends the changes to the server. */
  onSave: (changes: Readonly<Record<string, Change>>) => Promise<unknown>;
}

export function PermissionFields({ level, permissions, holdersOf, mayChange, onSave }: PermissionFieldsProps) {
  return Object.entries(permissions).map(([name, label]) => {
    const value = holdersOf(name);
    return value === undefined ? null : (
      <PermissionField
        key={name}
        level={level}
        permission={{ name, label }}
        value={value}
        isFixed={mayChange?.(name) === false}
        onSave={(change) => onSave({ [name]: change })}
      />
    );
  });
}

interface PermissionFieldProps {
  level: PermissionLevel;
  permission: Permission;
  value: GroupSetting;
  isFixed: boolean;
  onSave: (change: Change) => Promise<unknown>;
}

const custom = 'custom';
type Custom = Exclude<GroupSetting, number>;

const asCustom = (value: GroupSetting): Custom =>
  typeof value === 'number' ? { direct_members: [], direct_subgroups: [value] } : value;

/** The value in the form that the server stores: a single group is stored as its id, not as a list. */
function asStored(value: GroupSetting): GroupSetting {
  if (typeof value === 'number' || value.direct_members.length > 0) return value;
  const [group, ...others] = value.direct_subgroups;
  return group === undefined || others.length > 0 ? value : group;
}

/** The value that was sent, until the event of it arrives. Without it the field would show the value before. */
function useSentValue(known: GroupSetting) {
  const [sent, setSent] = useState<{ value: GroupSetting; over: GroupSetting }>();
  const isNew = sent !== undefined && sent.over !== known;
  if (isNew) setSent(undefined);
  return {
    value: sent === undefined || isNew ? known : sent.value,
    sending: (value: GroupSetting): void => setSent({ value: asStored(value), over: known }),
    refused: (): void => setSent(undefined),
  };
}

/** The holders of a permission: a group, or certain people and groups. A group is saved at once. */
function PermissionField({ level, permission, value: known, isFixed, onSave }: PermissionFieldProps) {
  const model = useSelected((state) => state.model);
  const { value, sending, refused } = useSentValue(known);
  /** The edited value, and the value with which the edit began. */
  const [draft, setDraft] = useState<{ value: Custom; before: GroupSetting }>();
  const task = useTask();
  const rule = model.realm.permissionRules[level][permission.name];
  const groups = groupsFor(model, rule);
  const id = useId();
  const before = draft?.before ?? value;
  const edited = draft?.value ?? (typeof value === 'number' ? undefined : value);
  const edit = (next: Custom): void => setDraft({ value: next, before });
  const save = (next: GroupSetting): void => {
    const sent = draft;
    sending(next);
    void task.run(async () => {
      await onSave({ new: next, old: before }).catch((error: unknown) => {
        refused();
        throw error;
      });
      // Edits that were made during the request are not saved yet.
      setDraft((now) => (now && now !== sent ? { ...now, before: next } : undefined));
    }, t('saved'));
  };
  const choose = (chosen: string): void => {
    if (chosen === custom) edit(asCustom(value));
    else save(Number(chosen));
  };
  const isUnlisted = typeof value === 'number' && !groups.some((group) => group.id === value);
  return (
    <div className="permission">
      <label htmlFor={id}>{permission.label}</label>
      <select
        id={id}
        value={edited ? custom : String(value)}
        disabled={task.isBusy || isFixed}
        onChange={(event) => choose(event.target.value)}
      >
        {isUnlisted && <option value={String(value)}>{nameOf(model.writing.groups.get(value))}</option>}
        {groups.map((group) => (
          <option key={group.id} value={group.id}>
            {groupName(group)}
          </option>
        ))}
        {(rule?.require_system_group !== true || edited) && (
          <option value={custom}>{t('certainPeopleAndGroups')}</option>
        )}
      </select>
      {edited && (
        <CustomValue
          label={permission.label}
          groups={groups.map((group) => group.id)}
          value={edited}
          isChanged={draft !== undefined}
          isFixed={isFixed}
          task={task}
          onChange={edit}
          onSave={() => save(edited)}
          onCancel={() => setDraft(undefined)}
        />
      )}
      <Outcome task={task} />
    </div>
  );
}

const nameOf = (group: Parameters<typeof groupName>[0] | undefined): string =>
  group ? groupName(group) : t('unknownGroup');

interface CustomValueProps {
  label: string;
  groups: readonly number[];
  value: Custom;
  isChanged: boolean;
  isFixed: boolean;
  task: Task;
  onChange: (value: Custom) => void;
  onSave: () => void;
  onCancel: () => void;
}

function CustomValue({ label, groups, value, isChanged, isFixed, task, onChange, onSave, onCancel }: CustomValueProps) {
  const { direct_members: people, direct_subgroups: subgroups } = value;
  const without = (ids: readonly number[], id: number): number[] => ids.filter((one) => one !== id);
  return (
    <div className="panel">
      <MembersField
        title={t('whoMayDo', { label })}
        label={t('addPersonOrGroupTo', { label })}
        members={{ people, groups: subgroups }}
        groups={groups}
        isDisabled={task.isBusy}
        mayAdd={!isFixed}
        mayRemove={() => !isFixed}
        onAdd={(kind, id) =>
          onChange(
            kind === 'people'
              ? { ...value, direct_members: [...people, id] }
              : { ...value, direct_subgroups: [...subgroups, id] },
          )
        }
        onRemove={(kind, id) =>
          onChange(
            kind === 'people'
              ? { ...value, direct_members: without(people, id) }
              : { ...value, direct_subgroups: without(subgroups, id) },
          )
        }
      />
      {isChanged && (
        <p className="card-tools">
          <button type="button" className="primary" disabled={task.isBusy} onClick={onSave}>
            <Phrase short={t('save')} full={t('saveOf', { label })} />
          </button>
          <button type="button" className="plain" onClick={onCancel}>
            {t('cancel')}
          </button>
        </p>
      )}
    </div>
  );
}
