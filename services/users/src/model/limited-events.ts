import { type Audience, idSet, type LogEvent } from '@natter/contracts';
import { sql, type UnitOfWork, type Work } from '@natter/database';
import { z } from 'zod';
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
      const result = await handler({ ...work, emit: (event) => emitted.push(event) - 1 });
      const people = [...new Set(emitted.flatMap(peopleOf))];
      if (people.length > 0 && (await lockUserVisibility(work))) await emitLimited(work, emitted, people);
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
  const without = (guests: ReadonlySet<number>): Audience =>
    guests.size === 0 ? 'realm' : { users: idSet(everybody.filter((id) => !guests.has(id))) };
  const hiddenSets = [...hidden].map(([guest, list]) => ({ guest, list: new Set(list) }));
  for (const event of events) {
    const subjects = peopleOf(event);
    const limited = hiddenSets
      .map(({ guest, list }) => ({ guest, hides: new Set(subjects.filter((id) => list.has(id))) }))
      .filter(({ hides }) => hides.size > 0);
    if (limited.length === 0) {
      work.emit(event);
      continue;
    }
    if (event.type === 'user_group' && event.op === 'add') {
      work.emit({ ...event, variants: [...(event.variants ?? []), ...limited.map((one) => groupFor(event, one))] });
      continue;
    }
    const unseeing = new Set(limited.filter(({ hides }) => hides.size === subjects.length).map(({ guest }) => guest));
    const partly = limited.filter(({ guest }) => !unseeing.has(guest));
    const audience = without(unseeing);
    if (isOfMembers(event))
      work.emit({
        ...event,
        audience,
        ...(partly.length > 0 ? { variants: partly.map((one) => membersFor(subjects, one)) } : {}),
      });
    else if (event.type === 'user_status' || (event.type === 'realm_user' && event.op !== 'remove'))
      work.emit({ ...event, audience });
    const [newcomer] = subjects;
    if (event.type === 'realm_user' && event.op === 'add' && newcomer !== undefined)
      work.emit(stubEvent(newcomer, host, [...unseeing]));
  }
}

interface Limited {
  guest: number;
  hides: ReadonlySet<number>;
}

const membersFor = (userIds: readonly number[], { guest, hides }: Limited) => ({
  audience: { users: idSet([guest]) },
  patch: { user_ids: userIds.filter((id) => !hides.has(id)) },
});

function groupFor({ body: { group } }: LogEvent<'user_group/add'>, { guest, hides }: Limited) {
  const members = group.members.filter((id) => !hides.has(id));
  return { audience: { users: idSet([guest]) }, patch: { group: { ...group, members } } };
}

/** The placeholder event for clients that need an entry for each id. */
export const stubEvent = (userId: number, host: string, guests: readonly number[]): LogEvent => ({
  type: 'realm_user',
  op: 'add',
  body: { person: { ...stubOf(userId, host), profile_data: {} } },
  audience: { users: idSet(guests) },
  forms: [{ capability: 'user_list_incomplete', is: true, patch: null }],
  isForClientsOnly: true,
});
