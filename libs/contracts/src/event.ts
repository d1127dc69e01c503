import type { IdSet } from './id-set.ts';
import type { UnknownUser } from './unknown-user.ts';

/** Who an event is for: everybody in the realm, or the named users. */
export type Audience = 'realm' | { users: IdSet; except?: IdSet };

/**
 * One entry of a realm's log. It carries all that any queue needs, so that a gateway never asks:
 * a shared body, patches by class of receiver, and sparse parts per receiver.
 */
export interface LogEvent {
  type: string;
  op?: string;
  /** The shared body without `id`; keys are those of the event as clients see it. */
  body: Record<string, unknown>;
  audience: Audience;
  /** Later variants win; a variant's patch is merged over the body at its top level. */
  variants?: { audience: Audience; patch: Record<string, unknown> }[];
  /** What differs by receiver inside a list of the body; applied after variants and before forms, in order. */
  parts?: ListPart[];
  /** What a queue sees of it by its capabilities; every form whose capability stands as named applies, in order. */
  forms?: Form[];
  /** Secrets that the log does not hold; the body has them empty. */
  withheld?: Withheld;
  /** For consumers in other services only; no client sees it. */
  note?: Record<string, unknown>;
  /** Nothing happened: some clients come to see, or no longer see, what was there. Consumers pass it over. */
  isForClientsOnly?: true;
  /** W3C `traceparent` of the request that emitted it, where that was traced. */
  trace?: string;
  /** Only for messages: what narrows, flags and capabilities look at. */
  message?: MessagePart;
}

/**
 * Fields of one member of the body that a gateway asks the event's owner for when it delivers to a receiver (`reveal`). The owner
 * decides anew whether this receiver may see them.
 */
export interface Withheld {
  /** The member of the body. */
  in: string;
  kind: (typeof withheldKinds)[number];
  id: number;
  fields: string[];
}
export const withheldKinds = ['bot'] as const;

/** For its audience, `items[i]` is merged over item i of the body's `list`; where a capability is named, only for queues that have it so. */
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
  /** Merged over the whole event, `type` and `op` included; null hides the event from these queues. */
  patch: Record<string, unknown> | null;
}

export interface MessagePart {
  channelId?: number;
  isPublic: boolean;
  topic: string;
  senderId: number;
  /** The Markdown source; the body holds the rendered form. */
  source: string;
  flags: { flag: string; users: IdSet }[];
  /** Receivers who may not know the sender's real address. */
  emailHiddenFrom?: IdSet;
  /** Receivers who may not know of the sender, and who they take them for. */
  unknownSender?: { to: IdSet; shown: UnknownUser };
  local?: { queueId: string; localId: string };
}

/** An entry as it stands in Redis and travels to gateways. `n` is 0 for durable entries. */
export interface LogEntry {
  number: number;
  n: number;
  mark: number;
  /** The mark of the durable entry before this one: a reader proves with it that it has missed nothing. */
  previousMark: number;
  at: number;
  event: LogEvent;
}
