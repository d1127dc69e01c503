import {
  badRequest,
  idsOf,
  isOutage,
  type LogEvent,
  type RequestMeta,
  userVisibilityOperations,
} from '@natter/contracts';
import { sql, type Work, withDeadline } from '@natter/database';
import { type Bus, createSharedCalls, forEachApart, type Owner, repeat } from '@natter/service-kit';
import { z } from 'zod';
import {
  acquaintanceTypes,
  applyFact,
  consumerName,
  insertContacts,
  insertSubscribers,
} from './acquaintance-consumer.ts';
import { announceGained, announceLost } from './announce-visibility.ts';
import { lockRealm, type Realm } from './read-realm.ts';
import { hiddenPeople, isTooLarge, limitsGuests } from './user-visibility.ts';

const lookEveryMs = 5_000;
/** The longest time that a limit takes to begin. */
const beginMs = 30_000;
/** The longest pauses between attempts to begin a limit, and one that is too large: each attempt reads the whole realm. */
const longestPauseMs = { usual: 60_000, tooLarge: 600_000 };

/** Whether the realm's settings limit which users its guests see. */
export const wantsLimit = ({ permissions, systemGroups }: Pick<Realm, 'permissions' | 'systemGroups'>): boolean =>
  permissions.can_access_all_users_group !== systemGroups['role:everyone'];

/** Guests see all users again. The realm is locked. */
export async function endLimit(work: Work): Promise<void> {
  if (!(await limitsGuests(work, work.realmId))) return;
  try {
    await announceGained(work, [await hiddenPeople(work, work.realmId, {})]);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    throw badRequest('The organization has too many users, groups and guests to show all users to guests at once.');
  }
  await work.run(sql.unsafe`UPDATE users.realm SET limits_guests = false WHERE id = ${work.realmId}`);
  await forget(work);
}

async function forget(work: Work): Promise<void> {
  await work.run(sql.unsafe`DELETE FROM users.shared_channel WHERE realm_id = ${work.realmId}`);
  await work.run(sql.unsafe`DELETE FROM users.direct_contact WHERE realm_id = ${work.realmId}`);
}

/**
 * Puts a configured limit into force: reads shared channels and conversations from the other services, and hides all
 * other users from the guests. The setting is committed already, so first contacts from now on are announced by events.
 */
export async function beginLimit(owner: Owner, bus: Bus, meta: RequestMeta): Promise<void> {
  const known = await acquaintances(bus, meta);
  await owner.background(meta.realmId, async (work) => {
    const position = await holdConsumer(work);
    const realm = await lockRealm(work);
    if (wantsLimit(realm) && !(await limitsGuests(work, work.realmId))) await hide(work, known, position);
  });
}

/** The longest time that a trial takes, and the part of it in which the other services have to answer. */
const trialMs = 5_000;
const answerMs = 2_500;

/**
 * Returns a function that throws if the limit of a realm cannot begin: REQUEST_TOO_LARGE if it would hide too much at
 * once, SERVICE_UNAVAILABLE if that takes too long. It begins in one unit, after the setting was stored. The result is
 * false if another service did not answer, so that nothing is known. A trial reads the whole realm, so requests of a
 * realm share the one that is running.
 */
export function limitTrials(owner: Owner, bus: Bus): (meta: RequestMeta) => Promise<boolean> {
  const trial = createSharedCalls<number, boolean>();
  return (meta) => trial(meta.realmId, () => withDeadline(trialMs, () => tryLimit(owner, bus, meta)));
}

/** A unit that is rolled back. */
class Tried extends Error {}

/** Begins a limit in a unit that is rolled back. */
async function tryLimit(owner: Owner, bus: Bus, meta: RequestMeta): Promise<boolean> {
  const known = await withDeadline(answerMs, () => acquaintances(bus, meta)).catch((error: unknown) => {
    if (isOutage(error)) return undefined;
    throw error;
  });
  if (!known) return false;
  const trying = owner.background(meta.realmId, async (work) => {
    const position = await holdConsumer(work);
    await lockRealm(work);
    if (!(await limitsGuests(work, work.realmId))) await hide(work, known, position);
    throw new Tried();
  });
  await trying.catch((error: unknown) => {
    if (!(error instanceof Tried)) throw error;
  });
  return true;
}

type Acquaintances = Awaited<ReturnType<typeof acquaintances>>;

/** Returns the users who share channels and direct conversations, as the other services know them. */
async function acquaintances(bus: Bus, meta: RequestMeta) {
  const [shared, contacts] = await Promise.all([
    bus.call(userVisibilityOperations.listSubscribers, {}, { meta }),
    directContacts(bus, meta),
  ]);
  return { shared, contacts };
}

async function hide(work: Work, { shared, contacts }: Acquaintances, position: number): Promise<void> {
  await forget(work);
  for (const { channel_id, users } of shared.channels) await insertSubscribers(work, channel_id, idsOf(users));
  for (const participants of contacts.conversations) await insertContacts(work, participants);
  await replay(work, Math.min(shared.number, contacts.number), position);
  await work.run(sql.unsafe`UPDATE users.realm SET limits_guests = true WHERE id = ${work.realmId}`);
  await announceLost(work, [await hiddenPeople(work, work.realmId, {})]);
}

/** The participants of all direct conversations, at this number of the log or later. */
async function directContacts(bus: Bus, meta: RequestMeta) {
  const first = await bus.call(userVisibilityOperations.listDirectContacts, { after: '' }, { meta });
  const { number, conversations } = first;
  for (let { next } = first; next !== undefined; ) {
    const page = await bus.call(userVisibilityOperations.listDirectContacts, { after: next }, { meta });
    for (const participants of page.conversations) conversations.push(participants);
    next = page.next;
  }
  return { number, conversations };
}

const eventRow = z.object({ event: z.custom<LogEvent>() });

/**
 * Replays events that the consumer ignored because the limit was not in force, although they are newer than the data
 * that was read.
 */
async function replay(work: Work, after: number, through: number): Promise<void> {
  if (after >= through) return;
  const rows = await work.any(sql.type(eventRow)`
    SELECT event FROM log.read_types(${work.realmId}, ${after}, ${through}, ${sql.array([...acquaintanceTypes], 'text')}, 1000000)`);
  for (const { event } of rows) await applyFact(work, event, false);
}

/** The consumer waits until this unit ends, and continues from its position. */
async function holdConsumer(work: Work): Promise<number> {
  await work.run(sql.unsafe`
    INSERT INTO users.consumer (realm_id, name, position) VALUES (${work.realmId}, ${consumerName}, 0) ON CONFLICT DO NOTHING`);
  const { position } = await work.one(sql.type(z.object({ position: z.number() }))`
    SELECT position FROM users.consumer WHERE realm_id = ${work.realmId} AND name = ${consumerName} FOR UPDATE`);
  return position;
}

const pendingRow = z.object({ id: z.number() });

/** Begins configured limits that could not begin before: a service was unavailable, or the limit was too large. */
export function startLimits(
  owner: Owner,
  bus: Bus,
  onError: (error: unknown, realmId?: number) => void,
): () => Promise<void> {
  /** Realms whose limit could not begin. */
  const pauses = new Map<number, { ms: number; until: number }>();
  const failed = (error: unknown, realmId: number): void => {
    onError(error, realmId);
    const longestMs = isTooLarge(error) ? longestPauseMs.tooLarge : longestPauseMs.usual;
    const ms = Math.min(2 * (pauses.get(realmId)?.ms ?? lookEveryMs), longestMs);
    pauses.set(realmId, { ms, until: performance.now() + ms });
  };
  return repeat({ everyMs: lookEveryMs, onError }, async (isStopped) => {
    const pending = await owner.database.any(sql.type(pendingRow)`
      SELECT r.id FROM users.realm r
      JOIN users.user_group g ON g.realm_id = r.id AND g.is_system AND g.name = 'role:everyone'
      WHERE NOT r.limits_guests AND r.permissions -> 'can_access_all_users_group' <> to_jsonb(g.id)`);
    for (const id of pauses.keys()) if (!pending.some((realm) => realm.id === id)) pauses.delete(id);
    const due = pending.filter(({ id }) => performance.now() >= (pauses.get(id)?.until ?? 0));
    const apart = { isStopped, onError: (error: unknown, { id }: { id: number }) => failed(error, id) };
    await forEachApart(due, apart, ({ id }) =>
      withDeadline(beginMs, () => beginLimit(owner, bus, { requestId: 'limit-guests', realmId: id, client: 'natter' })),
    );
  });
}
