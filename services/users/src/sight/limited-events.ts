import { type Audience, idSet, type LogEvent, type UserGroup } from '@natter/contracts';
import { sql, type UnitOfWork, type Work } from '@natter/database';
import { z } from 'zod';
import { hiddenPeople, holdSight } from './sight.ts';
import { stubOf } from './stub.ts';

/**
 * Units of this service emit what concerns people to the whole realm. Where the realm limits its guests, each such event
 * reaches only those who may know of the person, when the unit's work is done: who sees whom stands still from then on.
 */
export const limitingSight =
  (unitOfWork: UnitOfWork): UnitOfWork =>
  (options, handler) =>
    unitOfWork(options, async (work) => {
      const emitted: LogEvent[] = [];
      const result = await handler({ ...work, emit: (event) => emitted.push(event) - 1 });
      const people = [...new Set(emitted.flatMap(peopleOf))];
      if (people.length > 0 && (await holdSight(work))) await emitLimited(work, emitted, people);
      else for (const event of emitted) work.emit(event);
      return result;
    });

/** Of whom an event for everybody tells something. */
function peopleOf({ type, op, body, audience }: LogEvent): readonly number[] {
  if (audience !== 'realm') return [];
  if (type === 'realm_user') return [(body.person as { user_id: number }).user_id];
  if (type === 'user_status') return [body.user_id as number];
  if (type !== 'user_group') return [];
  if (op === 'add') return (body.group as UserGroup).members;
  return op === 'add_members' || op === 'remove_members' ? (body.user_ids as number[]) : [];
}

const realmRow = z.object({ host: z.string(), everybody: z.array(z.number()) });

async function emitLimited(work: Work, events: readonly LogEvent[], people: readonly number[]): Promise<void> {
  const hidden = await hiddenPeople(work, work.realmId, { people });
  const { host, everybody } = await work.one(sql.type(realmRow)`
    SELECT host, (SELECT json_agg(id) FROM users.account WHERE realm_id = ${work.realmId} AND NOT is_system_bot) AS everybody
    FROM users.realm WHERE id = ${work.realmId}`);
  const without = (guests: readonly number[]): Audience =>
    guests.length === 0 ? 'realm' : { users: idSet(everybody.filter((id) => !guests.includes(id))) };
  for (const event of events) {
    const told = peopleOf(event);
    const limited = [...hidden]
      .map(([guest, list]) => ({ guest, hides: new Set(told.filter((id) => list.includes(id))) }))
      .filter(({ hides }) => hides.size > 0);
    if (limited.length === 0) {
      work.emit(event);
      continue;
    }
    if (event.type === 'user_group' && event.op === 'add') {
      work.emit({ ...event, variants: [...(event.variants ?? []), ...limited.map((one) => groupFor(event, one))] });
      continue;
    }
    const blind = limited.filter(({ hides }) => hides.size === told.length).map(({ guest }) => guest);
    const partly = limited.filter(({ guest }) => !blind.includes(guest));
    work.emit({
      ...event,
      audience: without(blind),
      ...(partly.length > 0 ? { variants: partly.map((one) => membersFor(told, one)) } : {}),
    });
    const [newcomer] = told;
    if (event.type === 'realm_user' && event.op === 'add' && newcomer !== undefined)
      work.emit(stubEvent(newcomer, host, blind));
  }
}

interface Limited {
  guest: number;
  hides: ReadonlySet<number>;
}

const membersFor = (told: readonly number[], { guest, hides }: Limited) => ({
  audience: { users: idSet([guest]) },
  patch: { user_ids: told.filter((id) => !hides.has(id)) },
});

function groupFor({ body }: LogEvent, { guest, hides }: Limited) {
  const group = body.group as UserGroup;
  const members = group.members.filter((id) => !hides.has(id));
  return { audience: { users: idSet([guest]) }, patch: { group: { ...group, members } } };
}

/** Clients that cannot do without an entry for each ID are given one. */
export const stubEvent = (userId: number, host: string, guests: readonly number[]): LogEvent => ({
  type: 'realm_user',
  op: 'add',
  body: { person: { ...stubOf(userId, host), profile_data: {} } },
  audience: { users: idSet(guests) },
  forms: [{ capability: 'user_list_incomplete', is: true, patch: null }],
  isForClientsOnly: true,
});
