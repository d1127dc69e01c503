import { idsPerNumber } from '@natter/contracts';
import type { RecordedEvent } from '../servers/postgres/shapes-log.ts';
import type { Seen } from '../system/clients.ts';
import type { SimulatedSystem } from '../system/system.ts';
import { type Committed, committedIn, deliveryViolations, startOf } from './expected.ts';

/** Descriptions of all violated promises; empty if there is none. */
export function violations(system: SimulatedSystem, seen: Seen): string[] {
  const committed = committedIn(system);
  return [
    ...seen.violations,
    ...system.errors.map((line) => `a process logged ${line}`),
    ...deliveryViolations(committed, seen),
    ...logViolations(committed),
    ...sendViolations(committed, seen),
    ...versionViolations(committed, seen),
    ...consumerViolations(committed),
    ...ephemeralViolations(committed, seen),
    ...[...committed.table('users.parked_event').keys()].map((key) => `users parked ${key}`),
    ...[...committed.table('messaging.parked_event').keys()].map((key) => `messaging parked ${key}`),
    ...[...committed.table('event_queue.parked_event').keys()].map((key) => `event_queue parked ${key}`),
    ...(system.postgres.locksHeld > 0 ? [`${system.postgres.locksHeld} locks are still held`] : []),
  ];
}

const bodyOf = ({ event }: RecordedEvent): Record<string, unknown> =>
  (JSON.parse(event) as { body: Record<string, unknown> }).body;

/** Numbers are gapless and in commit order. */
function logViolations({ events }: Committed): string[] {
  return events.flatMap((event, index) => {
    const before = events[index - 1];
    const previous = before?.realmId === event.realmId ? before : undefined;
    const isNext = event.number === (previous?.number ?? 0) + 1 && event.previousMark === (previous?.mark ?? 0);
    return isNext && event.at >= (previous?.at ?? 0) ? [] : [`event ${event.number} does not follow the one before`];
  });
}

/** A send is committed once, with its row and its answer, at the number in the answer; or not at all. */
function sendViolations({ events, table }: Committed, { sent }: Seen): string[] {
  const messages = events.filter(({ type }) => type === 'message');
  const found = new Map<string, RecordedEvent>();
  const wrong: string[] = [];
  for (const message of messages) {
    const { content } = bodyOf(message).message as { content: string };
    if (found.has(content)) wrong.push(`${content} was committed twice`);
    found.set(content, message);
    const row = table('simulated.message').get(`${message.realmId} ${message.number}`);
    if (row?.content !== content) wrong.push(`${content} has no row`);
    const answers = [...table('messaging.idempotency').values()].filter(({ key }) => key === `key:send ${content}`);
    if (!answers.some(({ answer }) => answer === JSON.stringify({ result: { id: message.number } })))
      wrong.push(`${content} has the answer ${JSON.stringify(answers[0]?.answer)}`);
  }
  if (table('simulated.message').size !== messages.length) wrong.push('a message has a row and no event');
  for (const { content, id } of sent)
    if (found.get(content)?.number !== id)
      wrong.push(`${content} was answered ${id} and is at ${found.get(content)?.number}`);
  return wrong;
}

/**
 * A message expects the version of its sender that was current at its commit; each change increments the version once.
 */
function versionViolations({ events, table }: Committed, { changed }: Seen): string[] {
  const versions = new Map<string, number>();
  const wrong: string[] = [];
  for (const event of events) {
    const body = bodyOf(event);
    if (event.type === 'realm_user') {
      const { user_id, full_name } = body.person as { user_id: number; full_name: string };
      const key = `${event.realmId} ${user_id}`;
      versions.set(key, (versions.get(key) ?? 0) + 1);
      if (Number(full_name) !== versions.get(key)) wrong.push(`change ${full_name} of ${key} is out of order`);
    }
    if (event.type !== 'message') continue;
    const { sender_id, sender_version, content } = body.message as Record<string, unknown>;
    const version = versions.get(`${event.realmId} ${sender_id}`) ?? 0;
    if (sender_version !== version) wrong.push(`${content} rests on version ${sender_version} and ${version} was true`);
  }
  for (const [key, account] of table('simulated.account'))
    if (account.changes !== (versions.get(key) ?? 0)) wrong.push(`person ${key} was changed without an event`);
  const answered = new Map<string, number>();
  for (const { realmId, userId } of changed)
    answered.set(`${realmId} ${userId}`, (answered.get(`${realmId} ${userId}`) ?? 0) + 1);
  for (const [key, count] of answered)
    if ((versions.get(key) ?? 0) !== count)
      wrong.push(`${count} changes of ${key} were answered, ${versions.get(key)} made`);
  return wrong;
}

/** Each event is applied once, in order, and has one consequence. */
function consumerViolations({ events, table }: Committed): string[] {
  const changes = events.filter(({ type }) => type === 'realm_user');
  const wrong: string[] = [];
  for (const realmId of new Set(events.map((event) => event.realmId))) {
    const numbers = changes.filter((event) => event.realmId === realmId).map(({ number }) => number);
    const caused = events
      .filter((event) => event.type === 'user_topic' && event.realmId === realmId)
      .map((event) => bodyOf(event).caused_by as number);
    if (caused.join() !== numbers.join())
      wrong.push(`realm ${realmId}: consequences of [${caused}], not of [${numbers}]`);
  }
  for (const [key, person] of table('simulated.person')) {
    const numbers = changes.filter((event) => keyOf(event) === key).map(({ number }) => number);
    if (String(person.applied) !== String(numbers)) wrong.push(`copy of ${key}: [${person.applied}], not [${numbers}]`);
  }
  return wrong;
}

const keyOf = (event: RecordedEvent): string =>
  `${event.realmId} ${(bodyOf(event).person as { user_id: number }).user_id}`;

/** No id is assigned to two ephemeral events: all followers of a realm see the same events after a number. */
function ephemeralViolations(committed: Committed, { followers }: Seen): string[] {
  const wrong: string[] = [];
  const given = new Map<string, unknown>();
  for (const follower of followers) {
    const start = startOf(committed, follower) ?? 0;
    for (const { id, type, event } of follower.events) {
      const n = id % idsPerNumber;
      if (n === 0) continue;
      if (type !== 'typing') wrong.push(`${follower.name} was delivered ${type} under the ephemeral id ${id}`);
      const position = `${follower.realmId} ${start + Math.floor(id / idsPerNumber)}-${n}`;
      if ((given.get(position) ?? event.topic) !== event.topic) wrong.push(`${position} was given twice`);
      given.set(position, event.topic);
    }
  }
  return wrong;
}
