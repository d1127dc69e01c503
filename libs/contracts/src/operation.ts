import { z } from 'zod';
import type { ErrorCode } from './error.ts';
import { type Params, type ParamValues, slackUnits } from './param.ts';

export type ServiceName = 'gateway' | 'users' | 'channels' | 'messaging' | 'presence' | 'event-queue';
/** Users of NATS and Redis, one per service. `operator` is for commands and setup. */
export const busUsers = [
  'gateway',
  'users',
  'channels',
  'messaging',
  'scheduler',
  'presence',
  'event-queue',
  'operator',
] as const;
export type BusUser = (typeof busUsers)[number];
/**
 * `user`: authenticated. `spectator`: also without authentication, where the realm allows it. `anyone`: nobody is asked.
 * `operator`: only commands of the operator, on the bus.
 */
export type Caller = 'user' | 'spectator' | 'anyone' | 'operator';

export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
}

/**
 * One operation: everything the gateway's route, the service's endpoint, OpenAPI and the client derive from.
 * Operations without `http` exist only on the bus.
 */
export interface Operation<P extends Params = Params, R extends z.ZodType = z.ZodType> {
  name: string;
  service: ServiceName;
  http?: Route | undefined;
  /** A path outside the API, whose result is a `Page`: what a link in a mail opens, or a picture. */
  page?: Route | undefined;
  caller: Caller;
  /**
   * Who may ask for it on the bus: NATS and the service refuse all others. By default the gateway for what has a route, and the
   * operator for what is the operator's.
   */
  callers: readonly BusUser[];
  summary: string;
  params: P;
  result: R;
  errors: readonly ErrorCode[];
  /** Types of the events it may emit. */
  events: readonly string[];
  /** A read-only operation may be sent again after a time-out. All others are writes: their answers are stored under a key. */
  isReadOnly: boolean;
  /** Parameters that together name a request: a client that sends them again without a key repeats it. */
  retriedBy?: readonly string[] | undefined;
  /**
   * When this service's copies of others' data are brought up to what is committed: before the handler runs, or, where every
   * millisecond counts, only before it refuses.
   */
  copies: 'current' | 'current-on-refusal';
  /** Bots that may only write may ask for it. */
  isForWriteOnly: boolean;
  /** Pages of any origin may ask: what an app needs before it is logged in. */
  isCrossOrigin: boolean;
  /** Weight of one request against the caller's rate limit, whatever its parameters are. */
  cost: number;
  /** The weight of these parameters, added to `cost`. For operations whose work grows with a parameter. */
  weigh?(params: ParamValues<P>): number;
  /** Time the caller waits, in milliseconds. */
  deadlineMs: number;
}

type Declared<P extends Params, R extends z.ZodType> = Pick<Operation<P, R>, 'name' | 'service' | 'summary'> &
  Partial<Omit<Operation<P, R>, 'name' | 'service' | 'summary'>>;

/** The answer of operations that say nothing but success. */
type Nothing = z.ZodObject<Record<never, never>>;

export function operation<
  const P extends Params = Record<never, never>,
  R extends z.ZodType = Nothing,
  H extends Route | undefined = undefined,
>(declared: Declared<P, R> & { http?: H }): Operation<P, R> & { http: H } {
  return {
    caller: 'user',
    callers: declared.caller === 'operator' ? ['operator'] : declared.http || declared.page ? ['gateway'] : [],
    params: {} as P,
    result: z.object({}) as unknown as R,
    errors: [],
    events: [],
    isReadOnly: (declared.http ?? declared.page)?.method === 'GET',
    copies: 'current',
    isForWriteOnly: false,
    isCrossOrigin: false,
    cost: 1,
    deadlineMs: 15_000,
    ...declared,
  } as Operation<P, R> & { http: H };
}

/** The answer of an operation with a `page`. */
export const pageSchema = z.object({
  status: z.int(),
  content_type: z.string(),
  /** Text; base64 where `is_base64`. */
  body: z.string(),
  is_base64: z.boolean().default(false),
  /** Instead of a body: a file that the service stores, sent chunk by chunk. */
  file: z.object({ key: z.string(), size: z.int() }).optional(),
  /** Content-Disposition, where it is not shown in the browser. */
  disposition: z.string().optional(),
  /** Where a redirect leads. */
  location: z.string().optional(),
  cache_seconds: z.int().default(0),
});
export type Page = z.infer<typeof pageSchema>;

export type ParamsOf<O> = O extends Operation<infer P, z.ZodType> ? ParamValues<P> : never;
export type ResultOf<O> = O extends Operation<Params, infer R> ? z.input<R> : never;

/** What the gateway tells a service beside the parameters. */
export interface RequestMeta {
  requestId: string;
  realmId: number;
  /** Client name from the User-Agent (for `client` of messages and the read-by-sender rule). */
  client: string;
  /** Where the request came from, as far as guesses are counted: an IPv4 address or an IPv6 /64. */
  network?: string | undefined;
  idempotencyKey?: string | undefined;
  /** The realm's version when the request was begun to be served, where copies are brought up to date before. */
  realmVersion?: number | undefined;
}

/** For the names of fields, fields that the operation does not know, and the boundaries of a multipart body. */
const otherBytes = 64 * 1024;

/**
 * The largest body of a request to this operation, in bytes. An uploaded file comes on top: `NATTER_MAX_UPLOAD_MIB` bounds it.
 */
export const maxBodyBytes = ({ params }: Pick<Operation, 'params'>): number =>
  Object.values(params).reduce((sum, { bound }) => sum + bound.form + 3 * slackUnits, otherBytes);
