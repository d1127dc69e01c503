import type { z } from 'zod';
import type { ServiceName } from '../model/operation.ts';

/** Services with a schema of their own, which append to the log. */
export const appenders = ['users', 'channels', 'messaging', 'presence', 'event-queue'] as const satisfies ServiceName[];
export type Appender = (typeof appenders)[number];

/** The audience that an event may have: the whole realm, listed users, either of them, or nobody: consumers only. */
export type AudienceForm = 'realm' | 'users' | 'either' | 'nobody';

/** One event, by `type` or `type/op`. Everything that emits, stores, reads or documents it is derived from this. */
export interface EventDeclaration<
  B extends z.ZodType = z.ZodType,
  N extends z.ZodType = z.ZodType,
  V extends z.ZodType = z.ZodType,
  A extends AudienceForm = AudienceForm,
> {
  summary: string;
  /** The only service that may append it; `every`: each of them. The gateway's own events are never in the log. */
  owner: Appender | 'every' | 'gateway';
  audience: A;
  /** Whether it is delivered to queues of clients. */
  isPublic: boolean;
  /** The shared body, as stored in the log. */
  body: B;
  /** `note` of the entry: what consumers need beyond the body. No client sees it. */
  note: N | undefined;
  /** The body as clients receive it, if forms or the gateway complete it. */
  view: V;
}

interface Given<B extends z.ZodType, N extends z.ZodType, V extends z.ZodType, A extends AudienceForm> {
  body: B;
  audience: A;
  note?: N;
  view?: V;
  isPublic?: boolean;
}

type Declare = <
  A extends AudienceForm,
  B extends z.ZodType,
  N extends z.ZodType = z.ZodUndefined,
  V extends z.ZodType = B,
>(
  summary: string,
  given: Given<B, N, V, A>,
) => EventDeclaration<B, N, V, A>;

/** Declares events of one owner. */
export const eventsOf =
  (owner: EventDeclaration['owner']): Declare =>
  <A extends AudienceForm, B extends z.ZodType, N extends z.ZodType, V extends z.ZodType>(
    summary: string,
    given: Given<B, N, V, A>,
  ) => ({
    summary,
    owner,
    audience: given.audience,
    isPublic: given.isPublic ?? true,
    body: given.body,
    note: given.note,
    view: given.view ?? (given.body as unknown as V),
  });
