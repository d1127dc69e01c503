import type { BusUser } from '../model/operation.ts';
import { type Appender, appenders, type EventDeclaration } from './declare.ts';
import { durableConsumers } from './durable-consumers.ts';
import { loggedEvents } from './index.ts';

interface TypeOwner {
  /** The only service that may append it; `every`: each of them. */
  owner: EventDeclaration['owner'];
  /** Services whose consumers act on it. */
  readBy: ReadonlySet<Appender>;
}

const typeOf = (name: string): string => name.replace(/\/.*/, '');

/**
 * The owner of each type of event, which appends it, and its readers. `log.append` refuses other appenders, `log.read_types`
 * other readers, and NATS other publishers and subscribers. Gateways accept only the signature of the owner. Migrations
 * store the same list in `log.writer`.
 */
export const eventTypes: ReadonlyMap<string, TypeOwner> = new Map(
  Object.entries(loggedEvents).map(([name, { owner }]) => [typeOf(name), { owner, readBy: readersOf(typeOf(name)) }]),
);

function readersOf(type: string): Set<Appender> {
  const reading = durableConsumers.filter(({ events }) => events.some((name) => typeOf(name) === type));
  return new Set(reading.map(({ service }) => service));
}

/** Whether the service may append events of this type; no service may append a type that is not declared. */
export const ownsEvent = (service: string, type: string): boolean => {
  const owner = eventTypes.get(type)?.owner;
  return owner === service || owner === 'every';
};

export const eventTypesOf = (service: Appender): string[] =>
  [...eventTypes.keys()].filter((type) => ownsEvent(service, type));

/** Whether some consumer acts on events of this type. */
export const isRead = (type: string): boolean => (eventTypes.get(type)?.readBy.size ?? 0) > 0;

export const eventTypesReadBy = (service: Appender): string[] =>
  [...eventTypes].filter(([, { readBy }]) => readBy.has(service)).map(([type]) => type);

/** The keys of `log.version` that a service bumps: whole keys, or the part before the colon. */
export const versionKeysOf: Record<Appender, readonly string[]> = {
  users: ['actor', 'groups', 'group-contents', 'realm'],
  channels: ['channel', 'group-uses'],
  messaging: [],
  presence: [],
  'event-queue': [],
};

/** The service whose tables and events a process works with: the scheduler is a part of messaging. */
export const appenderOf = (user: BusUser): Appender | undefined =>
  user === 'scheduler' ? 'messaging' : appenders.find((name) => name === user);

/** The service of a schema in Postgres, whose name has no hyphen. */
export function appenderOfSchema(schema: string): Appender {
  const found = appenders.find((name) => schemaOf(name) === schema);
  if (!found) throw new Error(`No service has the schema ${schema}`);
  return found;
}
export const schemaOf = (service: Appender): string => service.replace('-', '_');
