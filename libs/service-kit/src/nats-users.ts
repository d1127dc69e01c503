import { createHmac } from 'node:crypto';
import {
  type Appender,
  appenderOf,
  appenders,
  type BusUser,
  busUsers,
  eventTypesOf,
  eventTypesReadBy,
  isRead,
  type Operation,
  type ServiceName,
  servedOperations,
  servicePrograms,
} from '@natter/contracts';
import { committedSubject, logConflictSubject, logSubject, queueSubject, scheduledSubject } from '@natter/event-log';
import { cancelSubjectOf, directSubjectOf, nameOnNats, subjectOf, usageSubject } from './wire.ts';

/** NATS users: each service and the operator have their own. */
export const natsUsers = busUsers;
export type NatsUser = BusUser;

/** Subjects that a user may publish to and subscribe to; everything else is refused. */
interface Subjects {
  publish: string[];
  subscribe: string[];
}

type Served = Pick<Operation, 'service' | 'name' | 'callers'>;
/** Operations served over NATS, which excludes the gateway's own. */
const served: readonly Served[] = servedOperations.filter(({ service }) => service !== 'gateway');
const isService = (user: NatsUser): user is Appender => appenders.some((name) => name === user);

/** Requests end with the name of the caller, so no service can send one under another's name. */
function requests(user: NatsUser): Subjects {
  const asked = served.filter(({ callers }) => callers.includes(user));
  const askedBy = served.filter(({ service }) => service === user).flatMap(({ callers }) => callers);
  // Blocks of large requests and answers are fetched from both ends of a call.
  const peers = new Set<ServiceName | NatsUser>([...asked.map(({ service }) => service), ...askedBy]);
  // The gateway calls nearly every operation, and a new endpoint must not need another configuration: services refuse
  // the rest.
  const called =
    user === 'gateway'
      ? [...new Set(asked.map(({ service }) => service))].map((service) => ({ service, name: '*' }))
      : asked;
  return {
    publish: [
      ...called.flatMap((operation) => [subjectOf(operation, user), directSubjectOf(operation, '*', user)]),
      ...[...new Set(asked.map(({ service }) => cancelSubjectOf(service, user)))],
      ...[...peers].sort().map((peer) => `natter-parts.${peer}.*`),
    ],
    subscribe: [
      ...(isService(user)
        ? [`natter.${user}.*.*`, directSubjectOf({ service: user, name: '*' }, '*', '*'), cancelSubjectOf(user, '*')]
        : []),
      `natter-parts.${user}.*`,
      `_INBOX.${user}.>`,
      ...(user !== 'operator' ? ['PING', 'INFO', 'STATS'].flatMap((verb) => discovery(verb, nameOnNats(user))) : []),
    ],
  };
}

/** Subjects on which a service of this name answers `nats micro`. A trailing `*` alone would also permit `$SRV.>`. */
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
  if (user === 'gateway') {
    publish.push(usageSubject, ...servicePrograms.map((name) => `$SRV.PING.${nameOnNats(name)}`));
    subscribe.push(logSubject('*'), queueSubject('*'), usageSubject);
  }
  if (user === 'event-queue') subscribe.push(logConflictSubject);
  if (user === 'messaging') publish.push(scheduledSubject);
  if (user === 'scheduler') subscribe.push(scheduledSubject);
  if (user === 'operator') publish.push('$SRV.>');
  return { publish, subscribe };
}

/** The permissions of a user, shared by the configuration file and the cluster. */
function natsPermissions(user: NatsUser): Subjects {
  const [asking, hinting] = [requests(user), hints(user)];
  return {
    publish: [...asking.publish, ...hinting.publish],
    subscribe: [...asking.subscribe, ...hinting.subscribe],
  };
}

/**
 * The `permissions` of a user in the syntax of a NATS configuration. A request may be answered once, within the longest
 * deadline.
 */
export function natsPermissionsText(user: NatsUser): string {
  const { publish, subscribe } = natsPermissions(user);
  return `{ publish: { allow: ${JSON.stringify(publish)} }, subscribe: { allow: ${JSON.stringify(subscribe)} }, allow_responses: { max: 1, expires: "2m" } }`;
}

/** NATS stops routing to a process that has not answered for 2 to 4 s, because it hangs. */
const liveness = 'ping_interval: "2s"\nping_max: 1\n';

/** The part of a NATS configuration that defines users, and when a connection counts as dead. */
export function natsAuthorization(passwordOf: (user: NatsUser) => string): string {
  const users = natsUsers.map(
    (user) =>
      `  { user: ${JSON.stringify(user)}, password: ${JSON.stringify(passwordOf(user))}, permissions: ${natsPermissionsText(user)} }`,
  );
  return `${liveness}authorization {\n users: [\n${users.join('\n')}\n ]\n}`;
}

/** Derives a password for each user from one secret. */
export const derivedPassword = (secret: string, user: string): string =>
  createHmac('sha256', secret).update(user).digest('hex').slice(0, 40);
