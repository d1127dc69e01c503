import { z } from 'zod';
import type { Audience } from '../model/audience.ts';
import { sizeOf } from '../model/id-set.ts';
import { channelEvents } from './channels.ts';
import { type AudienceForm, type EventDeclaration, eventsOf } from './declare.ts';
import { internalEvents } from './internal.ts';
import { messageEvents } from './messages.ts';
import { organizationEvents } from './organization.ts';
import { ownEvents } from './own.ts';
import { peopleEvents } from './people.ts';

/** Every event of the log, by `type` or `type/op`. */
export const loggedEvents = {
  ...messageEvents,
  ...channelEvents,
  ...peopleEvents,
  ...ownEvents,
  ...organizationEvents,
  ...internalEvents,
} satisfies Record<string, EventDeclaration>;
export type LoggedEvents = typeof loggedEvents;
export type EventName = keyof LoggedEvents;

/** Emitted by the gateway alone: the answer to a poll that timed out without an event. */
const heartbeat = eventsOf('gateway')('Nothing happened for a while.', {
  audience: 'nobody',
  body: z.strictObject({}),
});

/** The fields of each event that clients receive beside `id`, `type` and `op`. */
export type EventViews = {
  [N in Exclude<EventName, keyof typeof internalEvents> | 'heartbeat']: N extends EventName
    ? z.output<LoggedEvents[N]['view']>
    : z.output<(typeof heartbeat)['view']>;
};

const declarations: Readonly<Record<string, EventDeclaration>> = loggedEvents;

/** The declaration of an event; undefined when there is none of this name. */
const declarationOf = (name: string): EventDeclaration | undefined =>
  Object.hasOwn(declarations, name) ? declarations[name] : undefined;

export const nameOfEvent = ({ type, op }: { type: unknown; op?: unknown }): string =>
  op === undefined ? String(type) : `${String(type)}/${String(op)}`;

/** The events that clients see, by `type` or `type/op`. */
export const publicEvents: ReadonlyMap<string, Pick<EventDeclaration, 'summary' | 'view'>> = new Map([
  ['heartbeat', heartbeat],
  ...Object.entries<EventDeclaration>(loggedEvents).filter(([, { isPublic }]) => isPublic),
]);

/** Types that are never delivered to a queue. */
export const internalTypes: ReadonlySet<string> = new Set(Object.keys(internalEvents));

/** The difference between an event that a client received and its declaration; undefined if there is none. */
export function problemOfEvent(event: Record<string, unknown>): string | undefined {
  const { id, type, op, ...body } = event;
  const name = nameOfEvent({ type, op });
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return `${name}: id is not an integer`;
  const declared = publicEvents.get(name);
  return declared ? problemOf(name, declared.view, body) : `${name}: no such event`;
}

/** The difference between an event of the log and its declaration; undefined if there is none. */
export function problemOfLogEvent({ type, op, body, note, audience, variants = [] }: LoggedEvent): string | undefined {
  const name = nameOfEvent({ type, op });
  const declared = declarationOf(name);
  if (!declared) return `${name}: no such event`;
  return (
    problemOf(name, declared.body, body) ??
    problemOf(`${name}: note`, declared.note ?? z.undefined(), note) ??
    (isAudience(declared.audience, audience) ? undefined : `${name}: not for ${declared.audience}`) ??
    variants.map(({ patch }) => problemOf(`${name}: variant`, declared.body, { ...body, ...patch })).find(Boolean)
  );
}

interface LoggedEvent {
  type: string;
  op?: string | undefined;
  body: object;
  note?: unknown;
  audience: Audience;
  variants?: readonly { patch: object }[];
}

function isAudience(form: AudienceForm, audience: Audience): boolean {
  if (form === 'either') return true;
  if (form === 'realm' || audience === 'realm') return form === audience;
  return form === 'users' || sizeOf(audience.users) === 0;
}

function problemOf(name: string, schema: z.ZodType, value: unknown): string | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return undefined;
  return `${name}: ${parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`;
}
