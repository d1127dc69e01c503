import { z } from 'zod';
import type { RoleName } from './actor.ts';
import type { ErrorCode } from './error.ts';
import { type Params, type ParamValues, slackUnits } from './param.ts';
import type { RealmPermission } from './permission-settings.ts';

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
/** The processes of the services, each with its own user of NATS. */
export const servicePrograms = busUsers.filter((user) => user !== 'operator');
export type ServiceProgram = (typeof servicePrograms)[number];
/**
 * `public`: everyone on the network; credentials are ignored. `spectator`: users, and unauthenticated callers where the
 * realm allows it. `user`: authenticated people and bots. `human`: authenticated people. `internal`: the services in
 * `callers`, never a client. `operator`: commands of the operator, on the bus.
 */
export type Caller = 'public' | 'spectator' | 'user' | 'human' | 'internal' | 'operator';

export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  /** Slashes in the last segment need no escape: what is left of the path is its value. */
  isOpenEnded?: boolean;
}

/**
 * One operation, from which the gateway's route, the service's endpoint, OpenAPI and the client are derived. Operations
 * without `http` exist only on the bus.
 */
export interface Operation<P extends Params = Params, R extends z.ZodType = z.ZodType> {
  name: string;
  service: ServiceName;
  http?: Route | undefined;
  /** A path outside the API whose result is a `Page`: the target of a link in a mail, or an image. */
  page?: (Route & { isRedirect?: true }) | undefined;
  /**
   * How a page affects the session of a browser: it shows the login form, begins a session, or ends the session of the
   * request. The gateway refuses requests of other sites for the last two.
   */
  session?: 'form' | 'begins' | 'ends' | undefined;
  /**
   * A request of the protocol tus 1.0.0: bodies are bytes of a file instead of forms, and the answer is also in headers
   * of the response.
   */
  protocol?: 'tus' | undefined;
  /** An alternative path of an operation, used by some clients. It is not part of the API documents. */
  isAlias: boolean;
  caller: Caller;
  /** The lowest role that may call it. Without one, every role may. */
  role?: Exclude<RoleName, 'guest'> | undefined;
  /** The permission of the realm that its caller needs. */
  permission?: RealmPermission | undefined;
  /** The refusal of a bot that calls an operation for people; nearly all use the default text. */
  botRefusal?: string | undefined;
  /**
   * The users of the bus that may call it: NATS and the service refuse all others. By default the gateway for
   * operations with a route, and the operator for those of the operator.
   */
  callers: readonly BusUser[];
  summary: string;
  params: P;
  result: R;
  errors: readonly ErrorCode[];
  /** Types of the events it may emit. */
  events: readonly string[];
  /**
   * A read-only operation may be repeated after a time-out. All others are writes: their answers are stored under a
   * key.
   */
  isReadOnly: boolean;
  /** A write without a stored answer that has the same effect and answer if it runs again. It is repeated like a read. */
  isIdempotent: boolean;
  /**
   * Whether the operation compares a password in its parameters with the stored one. Such an operation must count each
   * attempt before it returns, because its answer is stored under the key of the request: uncounted answers would allow
   * unlimited guesses.
   */
  checksPassword: boolean;
  /**
   * The service looks up the credential that the request names and runs the handler for the user it belongs to, instead
   * of trusting the actor of the gateway. So a gateway can act only for users whose credential it received. It is set
   * for every write of users that needs an actor, and for operations that answer with secrets.
   */
  checksCredential: boolean;
  /** Parameters that name a request of a client: the same request with the same values is answered once, without a key. */
  retriedBy?: readonly string[] | undefined;
  /**
   * When this service's projections are brought up to date with the commits: before the handler runs, or, on hot paths,
   * only before it refuses.
   */
  projections: 'current' | 'current-on-refusal';
  /** Bots that may only send may call it. */
  isForWriteOnly: boolean;
  /** Weight of one request against the caller's rate limit, whatever its parameters are. */
  weight: number;
  /** The weight of these parameters, added to `weight`. For operations whose work grows with a parameter. */
  weigh?(params: ParamValues<P>): number;
  /**
   * Whether its requests spend from the budget of the user only, and not from that of the realm. For operations that every
   * client calls regularly: with many clients online they would use up the budget of the realm.
   */
  sparesRealm: boolean;
  /**
   * The parameters as releases before the last one fingerprint them, in the order of their contracts: with defaults of
   * parameters that were removed, and without defaults that were added. Stored answers with these fingerprints are replayed.
   */
  formerParams?(params: ParamValues<P>): Record<string, unknown>[];
  /** How long the caller waits, in milliseconds. */
  deadlineMs: number;
}

type Declared<P extends Params, R extends z.ZodType> = Pick<Operation<P, R>, 'name' | 'service' | 'summary'> &
  Partial<Omit<Operation<P, R>, 'name' | 'service' | 'summary'>>;

/** Types of events that hold a whole list, so that each change of the list costs as much as the list is long. */
const repeatingEvents = new Set([
  'alert_words',
  'custom_profile_fields',
  'default_stream_groups',
  'default_streams',
  'muted_users',
  'realm_emoji',
  'realm_linkifiers',
  'realm_playgrounds',
]);
const repeatingWeight = 10;

/** The answer of operations without result fields. */
type Nothing = z.ZodObject<Record<never, never>>;

export function operation<
  const P extends Params = Record<never, never>,
  R extends z.ZodType = Nothing,
  H extends Route | undefined = undefined,
  const C extends Caller = 'user',
  const T extends 'tus' | undefined = undefined,
>(
  declared: Declared<P, R> & { http?: H; caller?: C; protocol?: T },
): Operation<P, R> & { http: H; caller: C; protocol: T } {
  const { service, caller = 'user' } = declared;
  const { isReadOnly = (declared.http ?? declared.page)?.method === 'GET' } = declared;
  const leastWeight = declared.events?.some((type) => repeatingEvents.has(type)) ? repeatingWeight : 1;
  return {
    caller,
    callers: declared.caller === 'operator' ? ['operator'] : declared.http || declared.page ? ['gateway'] : [],
    params: {} as P,
    result: z.object({}) as unknown as R,
    errors: [],
    events: [],
    isReadOnly,
    isIdempotent: false,
    checksPassword: false,
    checksCredential: service === 'users' && !isReadOnly && (caller === 'user' || caller === 'human'),
    projections: 'current',
    isForWriteOnly: false,
    isAlias: false,
    sparesRealm: false,
    deadlineMs: 15_000,
    ...declared,
    weight: Math.max(declared.weight ?? 1, leastWeight),
  } as Operation<P, R> & { http: H; caller: C; protocol: T };
}

/** The answer of an operation with a `page`. */
export const pageSchema = z.object({
  status: z.int(),
  content_type: z.string(),
  /** Text, or base64 if `is_base64` is set. */
  body: z.string(),
  is_base64: z.boolean().default(false),
  /** Instead of a body: a file stored by the service, sent chunk by chunk. */
  file: z.object({ key: z.string(), size: z.int() }).optional(),
  /** Content-Disposition, if the browser shall not display it. */
  disposition: z.string().optional(),
  /** Target of a redirect. */
  location: z.string().optional(),
  /** A session that the browser shall keep from now on; null if it shall forget its own. The gateway sets the cookies. */
  session: z.object({ token: z.string(), max_age_seconds: z.int() }).nullable().optional(),
  cache_seconds: z.int().default(0),
});
export type Page = z.infer<typeof pageSchema>;

export type ParamsOf<O> = O extends Operation<infer P, z.ZodType> ? ParamValues<P> : never;
export type ResultOf<O> = O extends Operation<Params, infer R> ? z.input<R> : never;

/** Whether the body of a request may be bytes of a file instead of a form. */
export const streamsBody = ({ protocol, http }: Pick<Operation, 'protocol' | 'http'>): boolean =>
  protocol === 'tus' && (http?.method === 'POST' || http?.method === 'PATCH');

/** The data that the gateway passes to a service beside the parameters. */
export interface RequestMeta {
  requestId: string;
  realmId: number;
  /**
   * Client name from the User-Agent. It becomes `client` of messages; messages of most interactive clients count as
   * read by their sender.
   */
  client: string;
  /** The network that guesses are counted for: an IPv4 address or an IPv6 /64. */
  network?: string | undefined;
  idempotencyKey?: string | undefined;
  /** The realm's version at the start of the request, if projections are brought up to date before the handler runs. */
  realmVersion?: number | undefined;
}

/** Allowance for field names, unknown fields and the boundaries of a multipart body. */
const otherBytes = 64 * 1024;

/**
 * The largest body of a request to this operation, in bytes, without an uploaded file, which `NATTER_MAX_UPLOAD_MIB`
 * limits.
 */
export const maxBodyBytes = ({ params }: Pick<Operation, 'params'>): number =>
  Object.values(params).reduce((sum, { bound }) => sum + bound.form + 3 * slackUnits, otherBytes);
