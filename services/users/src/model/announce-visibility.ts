import { idSet, type LogEvent, roles, unknownUser } from '@natter/contracts';
import { inTurns, requireEventRoom, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { accountColumns, accountRow, toUser } from './account-row.ts';

import { stubEvent, type ToUsers } from './limited-events.ts';
import type { Pairs } from './pairs.ts';
import { readProfileData } from './profile-data.ts';
import { noStatus, readStatuses } from './user-status.ts';

/** The users that become visible or hidden, by guest. A guest is in one of them only. */
type Changed = readonly Pairs[];

const guest = { userId: 0, role: roles.guest };

const countRow = z.object({ count: z.number() });

/** Whether `announceGained` or `announceLost` may emit more than this number of events for one guest. */
export async function needsMoreEvents(work: Work, changed: Changed, most: number): Promise<boolean> {
  const people = peopleOf(changed);
  const ofPeople = 3 * people.length;
  if (people.length === 0 || ofPeople > most) return ofPeople > most;
  const { count } = await work.one(sql.type(countRow)`
    SELECT count(DISTINCT group_id)::int AS count FROM users.group_member WHERE user_id = ANY(${sql.array(people, 'int4')})`);
  return ofPeople + count > most;
}

/** Emits to guests the users that they can see from now on, in the form of a register. */
export async function announceGained(work: Work, gained: Changed): Promise<void> {
  const people = peopleOf(gained);
  if (people.length === 0) return;
  requireEventRoom(people.length);
  const audienceOf = audiences(gained);
  for await (const userIds of portions(people, peopleAtOnce)) {
    const rows = await work.any(sql.type(accountRow)`
      SELECT ${accountColumns} FROM users.account WHERE account.id = ANY(${sql.array(userIds, 'int4')}) ORDER BY account.id`);
    const profiles = await readProfileData(work, work.realmId, userIds);
    const statuses = await readStatuses(work, work.realmId, userIds);
    for (const row of rows) {
      const to = { audience: await audienceOf(row.id), ...forClients };
      const user = toUser(row, guest, false);
      const person = row.is_bot ? user : { ...user, profile_data: profiles.get(row.id) ?? {} };
      work.emit({ type: 'realm_user', op: 'add', body: { person }, ...to });
      const status = statuses.get(row.id);
      if (status) work.emit({ type: 'user_status', body: { user_id: row.id, ...status }, ...to });
    }
  }
  await announceMembers(work, gained, 'add_members');
}

const hostRow = z.object({ host: z.string() });

/** Emits to guests the users that they can no longer see. */
export async function announceLost(work: Work, lost: Changed): Promise<void> {
  const people = peopleOf(lost);
  if (people.length === 0) return;
  requireEventRoom(2 * people.length);
  const { host } = await work.one(sql.type(hostRow)`SELECT host FROM users.realm WHERE id = ${work.realmId}`);
  await announceMembers(work, lost, 'remove_members');
  const audienceOf = audiences(lost);
  for await (const userIds of portions(people, peopleAtOnce)) {
    const statuses = await readStatuses(work, work.realmId, userIds);
    for (const user_id of userIds) {
      const to = { audience: await audienceOf(user_id), ...forClients };
      if (statuses.has(user_id)) work.emit({ type: 'user_status', body: { user_id, ...noStatus }, ...to });
      const person = { user_id, full_name: unknownUser(user_id, host).full_name };
      work.emit({ type: 'realm_user', op: 'remove', body: { person }, ...to });
      work.emit(stubEvent(user_id, host, to.audience));
    }
  }
}

const membersRow = z.object({ id: z.number(), is_deactivated: z.boolean(), members: z.array(z.number()) });
const groupsAtOnce = 200;
const peopleAtOnce = 500;

/** Changes the lists of group members, which contain visible users only. */
async function announceMembers(work: Work, changed: Changed, op: 'add_members' | 'remove_members'): Promise<void> {
  const among = sql.array(peopleOf(changed), 'int4');
  const takeTurns = inTurns();
  let after = 0;
  for (;;) {
    const groups = await work.any(sql.type(membersRow)`
      SELECT g.id, g.is_deactivated, coalesce((SELECT json_agg(m.user_id ORDER BY m.user_id)
        FROM users.group_member m JOIN users.account a ON a.id = m.user_id AND a.is_active
        WHERE m.group_id = g.id AND m.user_id = ANY(${among})), '[]') AS members
      FROM users.user_group g WHERE g.realm_id = ${work.realmId} AND g.id > ${after} ORDER BY g.id LIMIT ${groupsAtOnce}`);
    for (const { id, is_deactivated, members } of groups)
      for (const pairs of changed) {
        for (const { guests, people } of pairs.alike(members)) {
          const body = { group_id: id, user_ids: people(true) };
          const event: LogEvent = { type: 'user_group', op, body, audience: { users: idSet(guests) }, ...forClients };
          const forms = [{ capability: 'include_deactivated_groups', is: false, patch: null }];
          work.emit(is_deactivated ? { ...event, forms } : event);
          await takeTurns();
        }
        await takeTurns();
      }
    if (groups.length < groupsAtOnce) return;
    after = groups.at(-1)?.id ?? after;
  }
}

const forClients = { isForClientsOnly: true } as const;

const peopleOf = (changed: Changed): number[] =>
  [...new Set(changed.flatMap((pairs) => pairs.paired()))].sort((a, b) => a - b);

async function* portions(ids: readonly number[], size: number): AsyncGenerator<number[]> {
  for (let at = 0; at < ids.length; at += size) yield ids.slice(at, at + size);
}

/** Returns the guests for whom a user becomes visible or hidden. Most users follow one with the same guests. */
function audiences(changed: Changed): (userId: number) => Promise<ToUsers> {
  const takeTurns = inTurns();
  let last: { guests: number[]; audience: ToUsers } | undefined;
  return async (userId) => {
    await takeTurns();
    const guests = changed.flatMap((pairs) => pairs.guestsOf(userId));
    if (last?.guests.length !== guests.length || last.guests.some((id, at) => id !== guests[at]))
      last = { guests, audience: { users: idSet(guests) } };
    return last.audience;
  };
}
