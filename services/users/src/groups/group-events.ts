import type { Form, LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import type { GroupRow } from './group-row.ts';
import { toGroup } from './group-row.ts';

/** Only for queues that know of deactivated groups. */
const forKnowing: Form[] = [{ capability: 'include_deactivated_groups', is: false, patch: null }];
/** Only for queues to which a deactivated group is a removed one. */
const forOthers: Form[] = [{ capability: 'include_deactivated_groups', is: true, patch: null }];

type Told = Pick<GroupRow, 'id' | 'is_deactivated'>;

/** An event about a group; one that is deactivated is there for few. */
export function emitGroup(
  work: Work,
  group: Told,
  op: string,
  body: Record<string, unknown>,
  note?: LogEvent['note'],
): void {
  work.emit({
    type: 'user_group',
    op,
    body: { group_id: group.id, ...body },
    audience: 'realm',
    ...(group.is_deactivated ? { forms: forKnowing } : {}),
    ...(note ? { note } : {}),
  });
}

export function emitAdded(work: Work, row: GroupRow, note?: LogEvent['note']): void {
  work.emit({
    type: 'user_group',
    op: 'add',
    body: { group: toGroup(row) },
    audience: 'realm',
    ...(note ? { note } : {}),
  });
}

/** `row` as it was before. */
export function emitDeactivated(work: Work, row: Told): void {
  work.emit({
    type: 'user_group',
    op: 'update',
    body: { group_id: row.id, data: { deactivated: true } },
    audience: 'realm',
    forms: forKnowing,
  });
  work.emit({ type: 'user_group', op: 'remove', body: { group_id: row.id }, audience: 'realm', forms: forOthers });
}

/** `row` as it is now. */
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
