import {
  type Actor,
  ChatError,
  eventQueueOperations,
  type Operation,
  type RequestMeta,
  uploadOperations,
} from '@natter/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator } from './authenticator.ts';
import type { GatewayConfig } from './config.ts';
import { networkOf } from './network.ts';
import { type Budget, type Rate, type RateLimiter, type RateState, rateLimitHit } from './rate-limit.ts';

/** A request and the reply to it. */
export interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

export type Rates = Record<'user' | 'anonymous' | 'anonymousFiles' | 'realm', Rate>;

export const ratesOf = (config: GatewayConfig): Rates => ({
  user: { limit: config.NATTER_RATE_LIMIT, windowSeconds: 60 },
  anonymous: { limit: config.NATTER_RATE_LIMIT_ANONYMOUS, windowSeconds: 60 },
  anonymousFiles: { limit: config.NATTER_RATE_LIMIT_ANONYMOUS_FILES, windowSeconds: 60 },
  realm: { limit: config.NATTER_RATE_LIMIT_REALM ?? 500 * config.NATTER_RATE_LIMIT, windowSeconds: 60 },
});

/** Finds out who sent a request, and counts requests against their rates. */
export interface Callers {
  /** The actor of an operation that knows one. `keyInQuery` is a key that stands in the place of a header. */
  identify(
    operation: Operation,
    exchange: Exchange,
    meta: RequestMeta,
    keyInQuery: string | undefined,
  ): Promise<Actor | undefined>;
  authenticate(exchange: Exchange, meta: RequestMeta, isPoll?: boolean): Promise<Actor>;
  /**
   * Counts a request by its weight: against its actor and the realm or, without an actor, against the network it came from. Polls have
   * a budget of their own.
   */
  countCall(
    operation: Operation | undefined,
    exchange: Exchange,
    meta: RequestMeta,
    actor: Actor | undefined,
  ): Promise<void>;
  /** Counts the size of a file that is about to be sent to somebody without authentication: one for each further MiB. */
  countFile(operation: Operation, exchange: Exchange, meta: RequestMeta, bytes: number): Promise<void>;
  /**
   * Counts what was not known before the body was read: what the parameters weigh, and what an operation weighs more than the one that
   * was counted, where a form names another verb.
   */
  countMore(
    cost: number,
    operation: Operation,
    exchange: Exchange,
    by: { meta: RequestMeta; actor: Actor | undefined },
  ): Promise<void>;
}

export const isPollOf = (operation: Operation): boolean => operation.name === eventQueueOperations.getEvents.name;

/** Uploaded files, which are the largest answers. */
const isFileOf = ({ name }: Operation): boolean =>
  name === uploadOperations.getFile.name || name === uploadOperations.getTemporaryFile.name;

const fileUnitBytes = 1024 * 1024;

export const costOf = (operation: Operation | undefined): number => operation?.cost ?? 1;

export function createCallers(authenticator: Authenticator, limiter: RateLimiter, rates: Rates): Callers {
  return {
    async identify(operation, exchange, meta, keyInQuery) {
      const hasHeader = exchange.request.headers.authorization !== undefined;
      if (operation.caller === 'user' || (operation.caller === 'spectator' && hasHeader))
        return authenticate(exchange, meta, isPollOf(operation));
      // Browsers open files of pages without a header.
      const isFile = operation.page && operation.caller === 'spectator';
      if (!isFile || keyInQuery === undefined) return undefined;
      return guarded(exchange, meta, () => authenticator.authenticateKey(keyInQuery, meta));
    },
    authenticate,
    countCall: (operation, { request, reply }, meta, actor) =>
      spend(reply, meta, budgetsOf(operation, request, actor), costOf(operation)),
    countFile: async (operation, { request, reply }, meta, bytes) => {
      const more = Math.ceil(bytes / fileUnitBytes) - costOf(operation);
      if (more > 0) await spend(reply, meta, budgetsOf(operation, request, undefined), more);
    },
    countMore: async (cost, operation, { request, reply }, { meta, actor }) => {
      if (cost > 0) await spend(reply, meta, budgetsOf(operation, request, actor), cost);
    },
  };

  function budgetsOf(
    operation: Operation | undefined,
    request: FastifyRequest,
    actor: Actor | undefined,
  ): [Budget, ...Budget[]] {
    // A page shows many files: they leave the budget for logins alone.
    if (!actor && operation && isFileOf(operation))
      return [{ who: `file:${networkOf(request.ip)}`, rate: rates.anonymousFiles }];
    if (!actor) return [{ who: `ip:${networkOf(request.ip)}`, rate: rates.anonymous }];
    if (operation && isPollOf(operation)) return [{ who: `poll:${actor.userId}`, rate: rates.user }];
    return [
      { who: `user:${actor.userId}`, rate: rates.user },
      { who: 'realm', rate: rates.realm },
    ];
  }

  function authenticate(exchange: Exchange, meta: RequestMeta, isPoll = false): Promise<Actor> {
    const { authorization } = exchange.request.headers;
    return guarded(exchange, meta, () => authenticator.authenticate(authorization, meta, isPoll));
  }

  /** A wrong key counts against the network it came from; a right one is never refused because of wrong ones. */
  async function guarded(
    { request, reply }: Exchange,
    meta: RequestMeta,
    attempt: () => Promise<Actor>,
  ): Promise<Actor> {
    try {
      return await attempt();
    } catch (error) {
      // A missing key is not a guess, so it is not counted. Wrong keys leave the budget for logins alone.
      if (error instanceof ChatError && (error.status === 401 || error.code === 'RATE_LIMIT_HIT')) {
        const budget = { who: `wrong-key:${networkOf(request.ip)}`, rate: rates.anonymous };
        await spend(reply, meta, [budget], error.code === 'UNAUTHORIZED' ? 0 : 1);
      }
      throw error;
    }
  }

  async function spend(
    reply: FastifyReply,
    meta: RequestMeta,
    budgets: [Budget, ...Budget[]],
    cost: number,
  ): Promise<void> {
    const state = await limiter.spend(meta.realmId, budgets, cost);
    setRateHeaders(reply, state);
    if (state.isOver) throw rateLimitHit(state);
  }
}

function setRateHeaders(reply: FastifyReply, rate: RateState): void {
  reply
    .header('x-ratelimit-limit', rate.limit)
    .header('x-ratelimit-remaining', rate.remaining)
    .header('x-ratelimit-reset', rate.reset);
}
