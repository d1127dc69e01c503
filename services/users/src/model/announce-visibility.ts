import { type BodyOf, eventForUsers, type LogEvent, type NameForUsers, roles, unknownUser } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { accountColumns, accountRow, toUser } from './account-row.ts';
import { readGroups } from './group-row.ts';
import { stubEvent } from './limited-events.ts';
import { readProfileData } from './profile-data.ts';
import { noStatus, readStatuses } from './user-status.ts';

/** The users that become visible or hidden, by guest. */
type UsersByGuest = ReadonlyMap<number, readonly number[]>;

const guest = { userId: 0, role: roles.guest };

/** Emits to guests the users that they can see from now on, in the form of a register. */
export async function announceGained(work: Work, gained: UsersByGuest): Promise<void> {
  const userIds = [...new Set([...gained.values()].flat())];
  if (userIds.length === 0) return;
  const rows = await work.any(sql.type(accountRow)`
    SELECT ${accountColumns} FROM users.account WHERE account.id = ANY(${sql.array(userIds, 'int4')}) ORDER BY account.id`);
  const profiles = await readProfileData(work, work.realmId, userIds);
  const statuses = await readStatuses(work, work.realmId, userIds);
  const guestsOf = guestsByPerson(gained);
  for (const row of rows) {
    const guests = guestsOf.get(row.id) ?? [];
    const user = toUser(row, guest, false);
    const person = row.is_bot ? user : { ...user, profile_data: profiles.get(row.id) ?? {} };
    work.emit(forGuests(guests, 'realm_user/add', { person }));
    const status = statuses.get(row.id);
    if (status) work.emit(forGuests(guests, 'user_status', { user_id: row.id, ...status }));
  }
  await announceMembers(work, gained, 'add_members');
}

/** Emits to guests the users that they can no longer see. */
export async function announceLost(work: Work, lost: UsersByGuest): Promise<void> {
  const userIds = [...new Set([...lost.values()].flat())].sort((a, b) => a - b);
  if (userIds.length === 0) return;
  const { host } = await work.one(
    sql.type(z.object({ host: z.string() }))`SELECT host FROM users.realm WHERE id = ${work.realmId}`,
  );
  const statuses = await readStatuses(work, work.realmId, userIds);
  await announceMembers(work, lost, 'remove_members');
  const guestsOf = guestsByPerson(lost);
  for (const userId of userIds) {
    const guests = guestsOf.get(userId) ?? [];
    if (statuses.has(userId)) work.emit(forGuests(guests, 'user_status', { user_id: userId, ...noStatus }));
    const person = { user_id: userId, full_name: unknownUser(userId, host).full_name };
    work.emit(forGuests(guests, 'realm_user/remove', { person }));
    work.emit(stubEvent(userId, host, guests));
  }
}

/** Changes the lists of group members, which contain visible users only. */
async function announceMembers(work: Work, users: UsersByGuest, op: 'add_members' | 'remove_members'): Promise<void> {
  const groups = await readGroups(work, work.realmId);
  const seen = [...byPeople(users)];
  for (const group of groups) {
    const members = new Set(group.members);
    for (const { guests, people } of seen) {
      const user_ids = people.filter((id) => members.has(id));
      if (user_ids.length === 0) continue;
      const event = forGuests(guests, `user_group/${op}`, { group_id: group.id, user_ids });
      const forms = [{ capability: 'include_deactivated_groups', is: false, patch: null }];
      work.emit(group.is_deactivated ? { ...event, forms } : event);
    }
  }
}

const forGuests = <N extends NameForUsers>(guests: readonly number[], name: N, body: BodyOf<N>): LogEvent<N> => ({
  ...eventForUsers(name, body, guests),
  isForClientsOnly: true,
});

function guestsByPerson(users: UsersByGuest): Map<number, number[]> {
  const guestsOf = new Map<number, number[]>();
  for (const [guestId, people] of users)
    for (const id of people) {
      const known = guestsOf.get(id);
      if (known) known.push(guestId);
      else guestsOf.set(id, [guestId]);
    }
  return guestsOf;
}

/** Groups guests with the same changes. */
function byPeople(users: UsersByGuest): { guests: number[]; people: readonly number[] }[] {
  const groups = new Map<string, { guests: number[]; people: readonly number[] }>();
  for (const [guestId, people] of users) {
    const key = people.join();
    const known = groups.get(key);
    if (known) known.guests.push(guestId);
    else groups.set(key, { guests: [guestId], people });
  }
  return [...groups.values()];
}
