import { type Audience, idSet, type LogEvent } from '@natter/contracts';
import {
  bytesPerNumber,
  createEventRoom,
  inTurns,
  requireEventBytes,
  sql,
  type UnitOfWork,
  type Work,
} from '@natter/database';
import { z } from 'zod';

import type { Alike } from './pairs.ts';
import { stubOf } from './stub.ts';
import { hiddenPeople, lockUserVisibility } from './user-visibility.ts';

/**
 * Units of this service emit events about users to the whole realm. If the realm limits its guests, this wrapper restricts
 * the audience of each such event to users who may see its subject at the end of the unit, and locks visibility until the
 * commit.
 */
export const limitAudiences =
  (unitOfWork: UnitOfWork): UnitOfWork =>
  (options, handler) =>
    unitOfWork(options, async (work) => {
      const emitted: LogEvent[] = [];
      const requireRoom = createEventRoom(options.isConsumer);
      const emit = (event: LogEvent): number => {
        requireRoom(event);
        return emitted.push(event) - 1;
      };
      const unit = { ...work, emit, emitted: () => emitted.length };
      const result = await handler(unit);
      const people = [...new Set(emitted.flatMap(peopleOf))];
      if (people.length > 0 && (await lockUserVisibility(unit))) await emitLimited(work, emitted, people);
      else for (const event of emitted) work.emit(event);
      return result;
    });

/** The users that an event for the whole realm is about. */
function peopleOf(event: LogEvent): readonly number[] {
  if (event.audience !== 'realm') return [];
  if (event.type === 'realm_user') return [event.body.person.user_id];
  if (event.type === 'user_status') return [event.body.user_id];
  if (event.type !== 'user_group') return [];
  if (event.op === 'add') return event.body.group.members;
  return isOfMembers(event) ? event.body.user_ids : [];
}

type OfMembers = LogEvent<'user_group/add_members' | 'user_group/remove_members'>;

const isOfMembers = (event: LogEvent): event is OfMembers =>
  event.type === 'user_group' && (event.op === 'add_members' || event.op === 'remove_members');

const realmRow = z.object({ host: z.string(), everybody: z.array(z.number()) });

async function emitLimited(work: Work, events: readonly LogEvent[], people: readonly number[]): Promise<void> {
  const hidden = await hiddenPeople(work, work.realmId, { people });
  const { host, everybody } = await work.one(sql.type(realmRow)`
    SELECT host, (SELECT json_agg(id) FROM users.account WHERE realm_id = ${work.realmId} AND NOT is_system_bot) AS everybody
    FROM users.realm WHERE id = ${work.realmId}`);
  const without = audiencesWithout(everybody);
  const takeTurns = inTurns();
  for (const event of events) {
    await takeTurns();
    const subjects = peopleOf(event);
    const limited = subjects.length === 0 ? [] : hidden.alike(subjects);
    if (limited.length === 0) {
      work.emit(event);
      continue;
    }
    if (event.type === 'user_group' && event.op === 'add') {
      const { group } = event.body;
      const variants = variantsFor(limited, (members) => ({ group: { ...group, members } }));
      work.emit({ ...event, variants: [...(event.variants ?? []), ...variants] });
      continue;
    }
    const unseeing = limited.find(({ isAll }) => isAll)?.guests ?? [];
    const partly = limited.filter(({ isAll }) => !isAll);
    const audience = without(unseeing);
    if (isOfMembers(event))
      work.emit({
        ...event,
        audience,
        ...(partly.length > 0 ? { variants: variantsFor(partly, (user_ids) => ({ user_ids })) } : {}),
      });
    else if (event.type === 'user_status' || (event.type === 'realm_user' && event.op !== 'remove'))
      work.emit({ ...event, audience });
    const [newcomer] = subjects;
    if (event.type === 'realm_user' && event.op === 'add' && newcomer !== undefined)
      work.emit(stubEvent(newcomer, host, { users: idSet(unseeing) }));
  }
}

/** For each set of guests who see the same of the users, the event with these users. */
function variantsFor<P>(limited: readonly Alike[], patchOf: (seen: number[]) => P): { audience: ToUsers; patch: P }[] {
  let seenByAll = 0;
  return limited.map(({ guests, people }) => {
    const seen = people(false);
    seenByAll += seen.length;
    requireEventBytes(seenByAll * bytesPerNumber);
    return { audience: { users: idSet(guests) }, patch: patchOf(seen) };
  });
}

/** Returns the audience of everybody but some guests. Most events follow one that the same guests do not get. */
function audiencesWithout(everybody: readonly number[]): (guests: readonly number[]) => Audience {
  let last: { guests: readonly number[]; audience: Audience } = { guests: [], audience: 'realm' };
  return (guests) => {
    if (last.guests.length !== guests.length || last.guests.some((id, at) => id !== guests[at])) {
      const those = new Set(guests);
      const audience = guests.length === 0 ? 'realm' : { users: idSet(everybody.filter((id) => !those.has(id))) };
      last = { guests, audience } as const;
    }
    return last.audience;
  };
}

export type ToUsers = Exclude<Audience, 'realm'>;

/** The placeholder event for clients that need an entry for each id. */
export const stubEvent = (userId: number, host: string, audience: ToUsers): LogEvent => ({
  type: 'realm_user',
  op: 'add',
  body: { person: { ...stubOf(userId, host), profile_data: {} } },
  audience,
  forms: [{ capability: 'user_list_incomplete', is: true, patch: null }],
  isForClientsOnly: true,
});
