import { idsPerNumber } from '@natter/contracts';
import type { RecordedEvent } from '../servers/postgres/shapes-log.ts';
import type { Row, Table } from '../servers/postgres/transaction.ts';
import type { Follower, Seen } from '../system/clients.ts';
import type { SimulatedSystem } from '../system/system.ts';

/** The committed data, read from the tables. */
export interface Committed {
  events: RecordedEvent[];
  table(name: string): Table;
}

export function committedIn(system: SimulatedSystem): Committed {
  const table = (name: string): Table => system.postgres.store.table(name);
  const events = [...table('log.event').values()] as unknown as RecordedEvent[];
  events.sort((a, b) => a.realmId - b.realmId || a.number - b.number);
  return { events, table };
}

interface Delivery {
  id: number;
  type: string;
}

/** The durable events that a queue must deliver, in order. Undefined if its row is gone. */
function expectedOf(committed: Committed, follower: Follower): Delivery[] | undefined {
  const start = startOf(committed, follower);
  if (start === undefined) return undefined;
  return committed.events
    .filter((one) => one.realmId === follower.realmId && one.number > start && isFor(one, follower))
    .map(({ number, type }) => ({ id: (number - start) * idsPerNumber, type }))
    .filter(({ id }) => id > follower.firstId);
}

/** The number after which the queue starts. */
export function startOf({ table }: Committed, { queueId }: Follower): number | undefined {
  const row = table('event_queue.queue').get(queueId ?? '') as (Row & { record: string }) | undefined;
  return row && (JSON.parse(row.record) as { start: number }).start;
}

function isFor({ type, event }: RecordedEvent, { userId, eventTypes }: Follower): boolean {
  if (type === 'tick' || (eventTypes !== null && !eventTypes.includes(type))) return false;
  const { audience } = JSON.parse(event) as { audience: 'realm' | { users: { ids: number[] } } };
  return audience === 'realm' || audience.users.ids.includes(userId);
}

/**
 * A typing event is recorded if Redis refuses it. A gateway skips it if it is a minute old by the gateway's clock, which a
 * schedule may move by an hour.
 */
const maySkip = ({ type }: Delivery): boolean => type === 'typing';

const durable = ({ id }: { id: number }): boolean => id % idsPerNumber === 0;

/** Whether every follower has received all committed events. */
export function isDelivered(system: SimulatedSystem, { followers }: Seen): boolean {
  const committed = committedIn(system);
  return followers.every((follower) => {
    const expected = expectedOf(committed, follower);
    const mustCome = (list: readonly Delivery[]): number => list.filter((one) => !maySkip(one)).length;
    return expected === undefined || mustCome(expected) <= mustCome(follower.events.filter(durable));
  });
}

/** Whether consumers have applied all committed events. */
export function isConsumed(system: SimulatedSystem): boolean {
  const { events } = committedIn(system);
  const count = (type: string): number => events.filter((event) => event.type === type).length;
  return count('realm_user') <= count('user_topic');
}

/** Compares what every follower received with the committed events. */
export function deliveryViolations(committed: Committed, { followers }: Seen): string[] {
  return followers.flatMap((follower) => {
    const expected = expectedOf(committed, follower);
    if (!expected) return [`the queue of ${follower.name} is gone`];
    const text = (list: Delivery[]): string => list.map(({ id, type }) => `${id} ${type}`).join(', ');
    const delivered = follower.events.filter(durable);
    const ids = new Set(delivered.map(({ id }) => id));
    const [is, shouldBe] = [text(delivered), text(expected.filter((one) => !maySkip(one) || ids.has(one.id)))];
    return is === shouldBe ? [] : [`${follower.name} was delivered [${is}] instead of [${shouldBe}]`];
  });
}
