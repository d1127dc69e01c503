import { useRef, useState } from 'react';
import { findPeople } from '../state/completion.ts';
import type { Model } from '../state/model.ts';
import { t } from '../text/text.ts';
import { ComboField } from './combo-field.tsx';
import { groupName } from './groups.ts';
import { personName } from './names.ts';
import { useSelected } from './session-context.tsx';

interface Members {
  people: readonly number[];
  groups: readonly number[];
}
type Kind = keyof Members;

interface MembersFieldProps {
  /** Label of the list of the chosen people and groups. */
  title: string;
  /** Names the text field. */
  label: string;
  members: Members;
  /** The groups that can be chosen; without them only people can. */
  groups?: readonly number[];
  isDisabled?: boolean;
  mayAdd?: boolean;
  mayRemove?: (kind: Kind, id: number) => boolean;
  onAdd: (kind: Kind, id: number) => void;
  onRemove: (kind: Kind, id: number) => void;
}

const shown = 8;
const shownMembers = 60;
const noGroups: readonly number[] = [];

/** People and groups as a list, to which others are added by name. */
export function MembersField({
  title,
  label,
  members,
  groups = noGroups,
  isDisabled = false,
  mayAdd = true,
  mayRemove = () => true,
  onAdd,
  onRemove,
}: MembersFieldProps) {
  const model = useSelected((state) => state.model);
  const [query, setQuery] = useState('');
  const box = useRef<HTMLDivElement>(null);
  /** The button that had the focus disappears. */
  const remove = (kind: Kind, id: number): void => {
    box.current?.querySelector('input')?.focus();
    onRemove(kind, id);
  };
  const entries: { kind: Kind; id: number; name: string }[] = [
    ...members.groups.map((id) => ({ kind: 'groups' as const, id, name: nameOfGroup(model, id) })),
    ...members.people.map((id) => ({ kind: 'people' as const, id, name: personName(model, id) })),
  ];
  return (
    <div className="members" ref={box}>
      {entries.length === 0 ? (
        <p className="faint">{t('nobodyYet')}</p>
      ) : (
        <ul className="chips" aria-label={title}>
          {entries.slice(0, shownMembers).map(({ kind, id, name }) => (
            <li key={`${kind} ${id}`}>
              <bdi>{name}</bdi>
              {mayRemove(kind, id) && (
                <button type="button" disabled={isDisabled} onClick={() => remove(kind, id)}>
                  <span aria-hidden="true">✕</span>
                  <span className="hidden">{t('removeName', { name })}</span>
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {entries.length > shownMembers && (
        <p className="faint">{t('moreMembers', { count: entries.length - shownMembers })}</p>
      )}
      {mayAdd && (
        <ComboField
          label={label}
          list={groups.length > 0 ? t('peopleAndGroups') : t('people')}
          value={query}
          found={query.trim() === '' ? [] : choicesOf(query, model, { members, groups })}
          onChange={setQuery}
          onChoose={({ key }) => {
            const [kind, id] = key.split(' ');
            onAdd(kind as Kind, Number(id));
            setQuery('');
          }}
        />
      )}
    </div>
  );
}

const nameOfGroup = (model: Model, id: number): string => {
  const group = model.writing.groups.get(id);
  return group ? groupName(group) : t('unknownGroup');
};

function choicesOf(query: string, model: Model, { members, groups }: { members: Members; groups: readonly number[] }) {
  const wanted = query.trim().toLowerCase();
  const foundGroups = groups
    .filter((id) => !members.groups.includes(id) && nameOfGroup(model, id).toLowerCase().includes(wanted))
    .slice(0, shown / 2)
    .map((id) => ({ key: `groups ${id}`, label: nameOfGroup(model, id), detail: t('group'), insert: '' }));
  const people = findPeople(query, { model }, 2 * shown + members.people.length)
    .filter(({ id, isSystemBot }) => !isSystemBot && !members.people.includes(id))
    .map(({ id, name, isBot }) => ({ key: `people ${id}`, label: name, detail: isBot ? t('bot') : '', insert: '' }));
  return [...foundGroups, ...people].slice(0, shown);
}
