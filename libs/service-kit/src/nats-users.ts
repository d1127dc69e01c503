import { createHmac } from 'node:crypto';
import {
  type Appender,
  appenderOf,
  appenders,
  type BusUser,
  busUsers,
  catchUpOperations,
  eventTypesOf,
  eventTypesReadBy,
  isRead,
  type Operation,
  operations,
  type ServiceName,
} from '@natter/contracts';
import { committedSubject, logConflictSubject, logSubject, queueSubject, scheduledSubject } from '@natter/event-log';
import { cancelSubjectOf, subjectOf } from './wire.ts';

/** NATS users: each service and the operator have their own. */
export const natsUsers = busUsers;
export type NatsUser = BusUser;

/** Subjects that a user may publish to and subscribe to; everything else is refused. */
interface Subjects {
  publish: string[];
  subscribe: string[];
}

type Served = Pick<Operation, 'service' | 'name' | 'callers'>;
/** What is asked for over NATS. The gateway's own operations are not. */
const served = ([...operations, ...catchUpOperations] as readonly Served[]).filter(
  ({ service }) => service !== 'gateway',
);
const isService = (user: NatsUser): user is Appender => appenders.some((name) => name === user);

/** Requests end with the name of the caller, so nobody can ask in another's name. */
function requests(user: NatsUser): Subjects {
  const asked = served.filter(({ callers }) => callers.includes(user));
  const askedBy = served.filter(({ service }) => service === user).flatMap(({ callers }) => callers);
  // Blocks of large requests and answers are fetched from both ends of a call.
  const peers = new Set<ServiceName | NatsUser>([...asked.map(({ service }) => service), ...askedBy]);
  // The gateway asks for nearly everything, and a new endpoint must not need another configuration: services refuse the rest.
  const names =
    user === 'gateway'
      ? [...new Set(asked.map(({ service }) => service))].map((service) => subjectOf({ service, name: '*' }, user))
      : asked.map((operation) => subjectOf(operation, user));
  return {
    publish: [
      ...names,
      ...[...new Set(asked.map(({ service }) => cancelSubjectOf(service, user)))],
      ...[...peers].sort().map((peer) => `natter-parts.${peer}.*`),
    ],
    subscribe: [
      ...(isService(user) ? [`natter.${user}.*.*`, cancelSubjectOf(user, '*')] : []),
      `natter-parts.${user}.*`,
      `_INBOX.${user}.>`,
      ...(isService(user) ? ['PING', 'INFO', 'STATS'].flatMap((verb) => discovery(verb, `natter-${user}`)) : []),
    ],
  };
}

/** What a service of this name answers to `nats micro`. A trailing `*` alone would also let `$SRV.>` through. */
const discovery = (verb: string, name: string): string[] => [
  `$SRV.${verb}`,
  `$SRV.${verb}.${name}`,
  `$SRV.${verb}.${name}.*`,
];

function hints(user: NatsUser): Subjects {
  const owner = appenderOf(user);
  const committed = (types: readonly string[]): string[] => types.map((type) => committedSubject(type, '*'));
  const publish = owner ? [logSubject('*'), logConflictSubject] : [];
  const subscribe: string[] = [];
  if (owner) publish.push(...committed(eventTypesOf(owner).filter(isRead)));
  if (isService(user)) subscribe.push(...committed(eventTypesReadBy(user)));
  if (user === 'gateway' || user === 'event-queue') publish.push(queueSubject('*'));
  if (user === 'gateway') subscribe.push(logSubject('*'), queueSubject('*'));
  if (user === 'event-queue') subscribe.push(logConflictSubject);
  if (user === 'messaging') publish.push(scheduledSubject);
  if (user === 'scheduler') subscribe.push(scheduledSubject);
  if (user === 'operator') publish.push('$SRV.>');
  return { publish, subscribe };
}

/** What a user may do; the same for a server's configuration file and for a cluster's. */
export function natsPermissions(user: NatsUser): Subjects {
  const [asking, hinting] = [requests(user), hints(user)];
  return {
    publish: [...asking.publish, ...hinting.publish],
    subscribe: [...asking.subscribe, ...hinting.subscribe],
  };
}

/** The `permissions` of a user, as a NATS configuration has them. A request may be answered once, within the longest deadline. */
export function natsPermissionsText(user: NatsUser): string {
  const { publish, subscribe } = natsPermissions(user);
  return `{ publish: { allow: ${JSON.stringify(publish)} }, subscribe: { allow: ${JSON.stringify(subscribe)} }, allow_responses: { max: 1, expires: "2m" } }`;
}

/** The `authorization` block of a NATS configuration. */
export function natsAuthorization(passwordOf: (user: NatsUser) => string): string {
  const users = natsUsers.map(
    (user) =>
      `  { user: ${JSON.stringify(user)}, password: ${JSON.stringify(passwordOf(user))}, permissions: ${natsPermissionsText(user)} }`,
  );
  return `authorization {\n users: [\n${users.join('\n')}\n ]\n}`;
}

/** One secret gives every user a password of its own. */
export const derivedPassword = (secret: string, user: string): string =>
  createHmac('sha256', secret).update(user).digest('hex').slice(0, 40);
