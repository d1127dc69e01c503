import {
  type Actor,
  ChatError,
  eventQueueOperations,
  needsActor,
  type Operation,
  type RequestMeta,
  serverStatusOperations,
  uploadOperations,
  userOperations,
  usersPerBots,
} from '@natter/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../http/config.ts';
import { networkOf } from '../http/network.ts';
import type { Pauses } from '../rate-limit/pauses.ts';
import {
  type Budgets,
  budgetOfNetwork,
  type Rate,
  type RateLimiter,
  type RateState,
  rateLimitHit,
} from '../rate-limit/rate-limit.ts';
import type { SlowRefusals } from '../rate-limit/slow-refusals.ts';
import type { Authenticator, Credential, Purpose, ShownBy } from './authenticator.ts';

/** A request and the reply to it. */
export interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

export type Rates = Record<
  'user' | 'bots' | 'files' | 'anonymous' | 'anonymousFiles' | 'anonymousPictures' | 'realm',
  Rate
>;

export const ratesOf = (config: GatewayConfig): Rates => ({
  user: { limit: config.NATTER_RATE_LIMIT, windowSeconds: 60 },
  bots: { limit: usersPerBots * config.NATTER_RATE_LIMIT, windowSeconds: 60 },
  files: { limit: filesPerRequest * config.NATTER_RATE_LIMIT, windowSeconds: 60 },
  anonymous: { limit: config.NATTER_RATE_LIMIT_ANONYMOUS, windowSeconds: 60 },
  anonymousFiles: { limit: config.NATTER_RATE_LIMIT_ANONYMOUS_FILES, windowSeconds: 60 },
  anonymousPictures: { limit: picturesPerFile * config.NATTER_RATE_LIMIT_ANONYMOUS_FILES, windowSeconds: 60 },
  realm: { limit: config.NATTER_RATE_LIMIT_REALM ?? 500 * config.NATTER_RATE_LIMIT, windowSeconds: 60 },
});

/** Credentials in a request. */
export interface Shown {
  credential: Credential;
  /** An API key in the query of a page, which browsers open without a header. */
  keyInQuery?: string | undefined;
  /** A session without which the caller is anonymous, if it is valid: the page is for everybody else too. */
  optionalSession?: string | undefined;
}

/** Identifies the sender of a request, and counts requests against rate limits. */
export interface Callers {
  /** The actor of an operation that requires or permits one. */
  identify(operation: Operation, exchange: Exchange, meta: RequestMeta, shown: Shown): Promise<Actor | undefined>;
  authenticate(exchange: Exchange, meta: RequestMeta, credential: Credential): Promise<Actor>;
  /** The actor as it is now, even if it is cached. */
  renew(exchange: Exchange, meta: RequestMeta, credential: Credential): Promise<Actor>;
  /**
   * Counts a request by its weight: against its actor, the bots of its owner and the realm, unless the operation spares the
   * realm; or, without an actor, against its network over all realms. Polls have their own budget, and wait instead of
   * exceeding it.
   */
  countCall(operation: Operation | undefined, exchange: Exchange, actor: Actor | undefined): Promise<void>;
  /** Counts the size of a file or a page before it is sent: one for each further MiB. */
  countFile(bytes: number, operation: Operation, exchange: Exchange, actor: Actor | undefined): Promise<void>;
  /** Counts one further MiB of a file while it is sent. Waits instead of exceeding the budget, because the answer has begun. */
  countSent(operation: Operation, exchange: Exchange, actor: Actor): Promise<void>;
  /**
   * Counts weight that was unknown before the body was read: the weight of the parameters, and the additional weight if a
   * form selects another operation.
   */
  countMore(weight: number, operation: Operation, exchange: Exchange, actor: Actor | undefined): Promise<void>;
  /** Counts the body of a request while it arrives, whatever becomes of the request: one for each MiB after the first. */
  countBody(operation: Operation | undefined, exchange: Exchange, actor: Actor | undefined): BodyCount;
}

export interface BodyCount {
  /** Call it with the number of bytes that arrived since the last call. */
  add(bytes: number): Promise<unknown> | undefined;
  /** The counts until now. */
  readonly weight: number;
}

const isShown = (credential: Credential): boolean =>
  ('session' in credential ? credential.session : credential.header) !== undefined;

export const shownBy = ({ reply }: Exchange, meta: RequestMeta): ShownBy => ({ meta, response: reply.raw });

export const isPollOf = (operation: Operation): boolean => operation.name === eventQueueOperations.getEvents.name;

function purposeOf(operation: Operation): Purpose {
  if (isPollOf(operation)) return 'poll';
  return operation.name === serverStatusOperations.getServerStatus.name ? 'server status' : 'other';
}

/** Operations that return files that messages show, the largest responses. */
const { getFile, getTemporaryFile, getExternalContent } = uploadOperations;
const fileNames = new Set<string>([getFile.name, getTemporaryFile.name, getExternalContent.name]);

/** Files: messages of others decide how many a client requests. So they use neither the budget for logins nor that of a user. */
const isFileOf = ({ name }: Operation): boolean => fileNames.has(name);

/** Pictures and other small answers of which every client requests many. */
const isPictureOf = ({ name, page }: Operation): boolean =>
  /^\/(?:user_avatars|avatar|static)\//.test(page?.path ?? '') || name === userOperations.getServerSettings.name;

/** Limits relative to others: five times as many pictures as files, and five times as many files as other requests. */
const [picturesPerFile, filesPerRequest] = [5, 5];

/** A poll that would have to wait for longer is refused, and not counted. */
const maxPaceMs = 10_000;

const fileUnitBytes = 1024 * 1024;
/** Maximum number of attempts: other requests of the user may use up the budget before each attempt. */
const maxSentAttempts = 5;

export const weightOf = (operation: Operation | undefined): number => operation?.weight ?? 1;

export function createCallers(options: {
  authenticator: Authenticator;
  limiter: RateLimiter;
  rates: Rates;
  slowRefusals: SlowRefusals;
  pauses: Pauses;
}): Callers {
  const { authenticator, limiter, rates, slowRefusals, pauses } = options;
  return {
    identify: (operation, exchange, meta, shown) =>
      needsActor(operation) || (operation.caller === 'spectator' && isShown(shown.credential))
        ? authenticate(exchange, meta, shown.credential, purposeOf(operation))
        : identifyVisitor(operation, exchange, meta, shown),
    authenticate: (exchange, meta, credential) => authenticate(exchange, meta, credential, 'other'),
    renew: (exchange, meta, credential) =>
      guarded(exchange, isShown(credential), () => authenticator.renew(credential, shownBy(exchange, meta))),
    countCall: async (operation, { request, reply }, actor) => {
      const budgets = budgetsOf(operation, request, actor);
      const isPaced = actor !== undefined && operation !== undefined && isPollOf(operation);
      // How often a client polls depends on how often others cause events, so a poll waits until it is due instead of
      // being refused: the events gather meanwhile.
      const state = await spend(reply, budgets, weightOf(operation), isPaced ? maxPaceMs : undefined);
      if (isPaced && state.aheadMs > 0) await pauses.pause(reply.raw, Math.min(state.aheadMs, maxPaceMs));
    },
    countFile: async (bytes, operation, exchange, actor) => {
      const more = Math.ceil(bytes / fileUnitBytes) - weightOf(operation);
      if (more > 0) await countMore(more, operation, exchange, actor);
    },
    async countSent(operation, exchange, actor) {
      for (let attempt = 1; ; attempt++)
        try {
          return await countMore(1, operation, exchange, actor);
        } catch (error) {
          const isOver = error instanceof ChatError && error.code === 'RATE_LIMIT_HIT';
          if (!isOver || attempt === maxSentAttempts) throw error;
          await pauses.pause(exchange.reply.raw, Number(error.extra['retry-after']) * 1_000);
          if (exchange.reply.raw.closed) throw error;
        }
    },
    countMore,
    countBody(operation, { request, reply }, actor) {
      let size = 0;
      const count = {
        weight: 0,
        add(bytes: number) {
          size += bytes;
          if (size < fileUnitBytes) return undefined;
          const budgets = budgetsOf(operation, request, actor);
          // The sum is at most a whole budget, so that the request succeeds in a new window.
          const most = Math.max(0, budgets.all[0].rate.limit - weightOf(operation));
          const more = Math.min(Math.floor(size / fileUnitBytes), most) - count.weight;
          if (more <= 0) return undefined;
          count.weight += more;
          return spend(reply, budgets, more);
        },
      };
      return count;
    },
  };

  async function countMore(
    weight: number,
    operation: Operation,
    { request, reply }: Exchange,
    actor: Actor | undefined,
  ): Promise<void> {
    const budgets = budgetsOf(operation, request, actor);
    // The request itself was counted before. The sum is at most a whole budget, so it succeeds in a new window.
    const counted = weightOf(operation) + (request.admitted?.bodyCount.weight ?? 0);
    const left = Math.max(1, budgets.all[0].rate.limit - counted);
    await spend(reply, budgets, Math.min(weight, left));
  }

  function budgetsOf(operation: Operation | undefined, request: FastifyRequest, actor: Actor | undefined): Budgets {
    const [isFile, isPicture] = operation ? [isFileOf(operation), isPictureOf(operation)] : [false, false];
    if (!actor && isFile) return budgetOfNetwork('file', networkOf(request.ip), rates.anonymousFiles);
    if (!actor && isPicture) return budgetOfNetwork('picture', networkOf(request.ip), rates.anonymousPictures);
    if (!actor) return budgetOfNetwork('ip', networkOf(request.ip), rates.anonymous);
    const isPoll = operation !== undefined && isPollOf(operation);
    const { realmId, userId, botOwnerId } = actor;
    const ofBots =
      botOwnerId === undefined ? [] : [{ who: `${isPoll ? 'bot-polls' : 'bots'}:${botOwnerId}`, rate: rates.bots }];
    if (isPoll) return { realmId, all: [{ who: `poll:${userId}`, rate: rates.user }, ...ofBots] };
    // Users who send many requests without a budget of the realm cannot stop others: each of them has a limit, requests in
    // flight are divided fairly among realms and users, and a realm whose requests cost much CPU time is held back (ADR 19).
    const ofRealm = operation?.sparesRealm ? [] : [{ who: 'realm', rate: rates.realm }];
    if ((isFile || isPicture) && botOwnerId === undefined)
      return { realmId, all: [{ who: `files:${userId}`, rate: rates.files }, ...ofRealm] };
    return { realmId, all: [{ who: `user:${userId}`, rate: rates.user }, ...ofBots, ...ofRealm] };
  }

  /** The actor of an operation that answers everyone, if the request shows one that counts. */
  async function identifyVisitor(
    operation: Operation,
    exchange: Exchange,
    meta: RequestMeta,
    { keyInQuery, optionalSession }: Shown,
  ): Promise<Actor | undefined> {
    // Browsers open files of pages without a header.
    if (!operation.page || operation.caller !== 'spectator') return undefined;
    if (keyInQuery !== undefined)
      return guarded(exchange, true, () => authenticator.authenticateKey(keyInQuery, shownBy(exchange, meta)));
    if (optionalSession === undefined) return undefined;
    // Browsers keep sending the cookie of a session that has ended. That is not a guess: the request continues, and
    // counts, as one without authentication.
    const attempt = () => authenticator.authenticate({ session: optionalSession }, shownBy(exchange, meta), 'other');
    return guarded(exchange, false, attempt).catch((error: unknown) => {
      if (error instanceof ChatError && error.status === 401) return undefined;
      throw error;
    });
  }

  function authenticate(
    exchange: Exchange,
    meta: RequestMeta,
    credential: Credential,
    purpose: Purpose,
  ): Promise<Actor> {
    return guarded(exchange, isShown(credential), () =>
      authenticator.authenticate(credential, shownBy(exchange, meta), purpose),
    );
  }

  /** A wrong key counts against its network; a valid one is never refused because of wrong ones. */
  async function guarded(
    { request, reply }: Exchange,
    isGuess: boolean,
    attempt: () => Promise<Actor>,
  ): Promise<Actor> {
    try {
      return await attempt();
    } catch (error) {
      // A missing key is not a guess; the server counts it as a refusal. Wrong keys do not use the budget for logins.
      if (isGuess && error instanceof ChatError && (error.status === 401 || error.code === 'RATE_LIMIT_HIT'))
        await spend(reply, budgetOfNetwork('wrong-key', networkOf(request.ip), rates.anonymous), 1);
      throw error;
    }
  }

  async function spend(reply: FastifyReply, budgets: Budgets, weight: number, maxAheadMs?: number): Promise<RateState> {
    reply.request.isCounted = true;
    const state = await limiter.spend(budgets, weight, maxAheadMs);
    setRateHeaders(reply, state);
    const { realmId, all } = budgets;
    if (state.isOver) throw slowRefusals.mark(rateLimitHit(state), `${realmId}:${all[0].who}`);
    return state;
  }
}

function setRateHeaders(reply: FastifyReply, rate: RateState): void {
  reply
    .header('x-ratelimit-limit', rate.limit)
    .header('x-ratelimit-remaining', rate.remaining)
    .header('x-ratelimit-reset', rate.reset);
}
