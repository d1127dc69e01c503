import type { z } from 'zod';
import type { Audience } from '../model/audience.ts';
import { type IdSet, idSet } from '../model/id-set.ts';
import type { UnknownUser } from '../model/unknown-user.ts';
import type { Withheld } from '../model/withheld.ts';
import type { EventName, LoggedEvents } from './index.ts';

/**
 * One event of a realm's log. It contains all data that any queue needs, except secrets, so gateways make no further requests:
 * a shared body, patches by group of receivers, and sparse parts per receiver. Secrets are `withheld`. Bodies and notes are typed
 * by the declarations in `events/`.
 */
export type LogEvent<N extends EventName = EventName> = { [K in N]: LogEventOf<K> }[N];

/** The shared body without `id`; keys are those of the event as clients see it. */
export type BodyOf<N extends EventName> = z.output<LoggedEvents[N]['body']>;
/** The payload of an event: data for consumers of services. Clients do not receive it. */
export type NoteOf<N extends EventName> = z.output<NonNullable<LoggedEvents[N]['note']>>;

/** The audience that its declaration permits. */
type AudienceOf<N extends EventName> = {
  realm: 'realm';
  users: Exclude<Audience, 'realm'>;
  nobody: Exclude<Audience, 'realm'>;
  either: Audience;
}[LoggedEvents[N]['audience']];

type TypeOf<N extends EventName> = N extends `${infer Type}/${string}` ? Type : N;
type OpPart<N extends EventName> = N extends `${string}/${infer Op}` ? { op: Op } : { op?: undefined };
/** A note that may be absent is declared optional. */
type NotePart<N extends EventName> = undefined extends NoteOf<N> ? { note?: NoteOf<N> } : { note: NoteOf<N> };

/** The names of the events of a type. */
export type NamesOf<T extends string> = { [N in EventName]: TypeOf<N> extends T ? N : never }[EventName];

type LogEventOf<N extends EventName> = OpPart<N> &
  NotePart<N> & {
    type: TypeOf<N>;
    body: BodyOf<N>;
    audience: AudienceOf<N>;
    /** Later variants take precedence; a variant's patch is merged over the body at its top level. */
    variants?: { audience: Audience; patch: Partial<BodyOf<N>> }[];
    /** Patches by receiver for items of a list in the body; applied in order, after variants and before forms. */
    parts?: ListPart[];
    /** Patches by capability of the queue. Every form whose capability matches is applied, in order. */
    forms?: Form[];
    /** Secrets that are not stored in the log; the body contains them empty. */
    withheld?: Withheld;
    /** The event only shows or hides existing objects to some clients. Consumers skip it. */
    isForClientsOnly?: true;
    /** W3C `traceparent` of the request that emitted it, if that was traced. */
    trace?: string;
    /** The data of a message for narrows, flags and capabilities; only present in message events. */
    message?: MessagePart;
  };

/** The names of the events that may be addressed to listed users. */
export type NameForUsers = {
  [N in EventName]: LoggedEvents[N]['audience'] extends 'users' | 'either' ? N : never;
}[EventName];

/** An event for the listed users, by its name. */
export function eventForUsers<N extends NameForUsers>(name: N, body: BodyOf<N>, userIds: Iterable<number>): LogEvent<N>;
export function eventForUsers(name: NameForUsers, body: object, userIds: Iterable<number>): object {
  const [type, op] = name.split('/');
  return { type, ...(op === undefined ? {} : { op }), body, audience: { users: idSet(userIds) } };
}

/**
 * For its audience, `items[i]` is merged over item i of the body's `list`; if a capability is named, only for queues
 * with that value of it.
 */
export interface ListPart {
  audience: Audience;
  list: string;
  items: Record<string, unknown>[];
  capability?: string;
  is?: boolean;
}

export interface Form {
  capability: string;
  is: boolean;
  /** Merged over the whole event, including `type` and `op`; null hides the event from these queues. */
  patch: Record<string, unknown> | null;
}

interface MessagePart {
  channelId?: number;
  isPublic: boolean;
  topic: string;
  senderId: number;
  /** The Markdown source; the body holds the rendered form. */
  source: string;
  flags: { flag: string; users: IdSet }[];
  /** Receivers who may not see the sender's real address. */
  emailHiddenFrom?: IdSet;
  /** Receivers who may not see the sender, and the placeholder that they are shown. */
  unknownSender?: { to: IdSet; shown: UnknownUser };
  local?: { queueId: string; localId: string };
}

/** An entry as stored in Redis and sent to gateways. `n` is 0 for durable entries. */
export interface LogEntry {
  number: number;
  n: number;
  mark: number;
  /** The mark of the preceding durable entry: a reader uses it to detect gaps. */
  previousMark: number;
  at: number;
  event: LogEvent;
}
