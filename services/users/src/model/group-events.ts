import {
  type Form,
  type GroupChange,
  groupPermissions,
  keysOf,
  type LogEvent,
  type NamesOf,
  type NoteOf,
} from '@natter/contracts';
import type { Work } from '@natter/database';
import { shownSetting } from '@natter/permissions';
import type { GroupRow } from './group-row.ts';
import { toGroup } from './group-row.ts';

/** Only for queues that support deactivated groups. */
const forKnowing: Form[] = [{ capability: 'include_deactivated_groups', is: false, patch: null }];
/** Only for queues that treat a deactivated group as removed. */
const forOthers: Form[] = [{ capability: 'include_deactivated_groups', is: true, patch: null }];

type Announced = Pick<GroupRow, 'id' | 'is_deactivated'>;

/** An event about a group; for a deactivated group only queues that support those receive it. */
export function emitGroup(work: Work, group: Pick<Announced, 'is_deactivated'>, event: LogEvent<GroupEvent>): void {
  work.emit(group.is_deactivated ? { ...event, forms: forKnowing } : event);
}
type GroupEvent = Exclude<NamesOf<'user_group'>, 'user_group/add' | 'user_group/remove'>;

export function emitAdded(work: Work, row: GroupRow, note?: NoteOf<'user_group/add'>): void {
  work.emit({ type: 'user_group', op: 'add', body: { group: toGroup(row) }, audience: 'realm', note });
}

const permissionNames = keysOf(groupPermissions);

/** `change` has the stored values of permissions. */
export function emitUpdated(work: Work, group: Announced, change: GroupChange, inactive: ReadonlySet<number>): void {
  const data = { ...change };
  for (const name of permissionNames) {
    const value = change[name];
    if (value !== undefined) data[name] = shownSetting(value, inactive);
  }
  const { can_mention_group } = change;
  const isHiding = can_mention_group !== undefined && can_mention_group !== data.can_mention_group;
  emitGroup(work, group, {
    type: 'user_group',
    op: 'update',
    body: { group_id: group.id, data },
    audience: 'realm',
    ...(isHiding ? { note: { can_mention_group } } : {}),
  });
}

/** `row` before the change. */
export function emitDeactivated(work: Work, row: Announced): void {
  work.emit({
    type: 'user_group',
    op: 'update',
    body: { group_id: row.id, data: { deactivated: true } },
    audience: 'realm',
    forms: forKnowing,
  });
  work.emit({ type: 'user_group', op: 'remove', body: { group_id: row.id }, audience: 'realm', forms: forOthers });
}

/** `row` after the change. */
export function emitReactivated(work: Work, row: GroupRow): void {
  work.emit({
    type: 'user_group',
    op: 'update',
    body: { group_id: row.id, data: { deactivated: false } },
    audience: 'realm',
    forms: forKnowing,
  });
  work.emit({ type: 'user_group', op: 'add', body: { group: toGroup(row) }, audience: 'realm', forms: forOthers });
}
