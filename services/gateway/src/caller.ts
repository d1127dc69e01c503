import { type Actor, ChatError, eventQueueOperations, type Operation, type RequestMeta } from '@natter/contracts';
import type { LogRedis } from '@natter/event-log';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator } from './authenticator.ts';
import type { GatewayConfig } from './config.ts';
import { countRequest, type Rate, type RateState, rateLimitHit } from './rate-limit.ts';

/** A request and the reply to it. */
export interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

export type Rates = Record<'user' | 'anonymous' | 'login', Rate>;

export const ratesOf = (config: GatewayConfig): Rates => ({
  user: { limit: config.NATTER_RATE_LIMIT, windowSeconds: 60 },
  anonymous: { limit: config.NATTER_RATE_LIMIT_ANONYMOUS, windowSeconds: 60 },
  login: { limit: config.NATTER_RATE_LIMIT_LOGIN, windowSeconds: 1_800 },
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
  /** Counts a request of an actor or, without one, of an address. Polls have a budget of their own. */
  countCall(exchange: Exchange, meta: RequestMeta, actor: Actor | undefined, isPoll: boolean): Promise<void>;
  count(reply: FastifyReply, meta: RequestMeta, who: string, rate: Rate, by?: 0 | 1): Promise<void>;
}

export const isPollOf = (operation: Operation): boolean => operation.name === eventQueueOperations.getEvents.name;

export function createCallers(authenticator: Authenticator, redis: LogRedis, rates: Rates): Callers {
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
    countCall({ request, reply }, meta, actor, isPoll) {
      const who = actor ? `${isPoll ? 'poll' : 'user'}:${actor.userId}` : `ip:${request.ip}`;
      return count(reply, meta, who, actor ? rates.user : rates.anonymous);
    },
    count,
  };

  function authenticate(exchange: Exchange, meta: RequestMeta, isPoll = false): Promise<Actor> {
    const { authorization } = exchange.request.headers;
    return guarded(exchange, meta, () => authenticator.authenticate(authorization, meta, isPoll));
  }

  /** A wrong key counts against the address that it came from. */
  async function guarded(
    { request, reply }: Exchange,
    meta: RequestMeta,
    attempt: () => Promise<Actor>,
  ): Promise<Actor> {
    try {
      return await attempt();
    } catch (error) {
      // A missing key is not a guess, so it is not counted.
      if (error instanceof ChatError && error.status === 401)
        await count(reply, meta, `ip:${request.ip}`, rates.anonymous, error.code === 'UNAUTHORIZED' ? 0 : 1);
      throw error;
    }
  }

  async function count(reply: FastifyReply, meta: RequestMeta, who: string, rate: Rate, by: 0 | 1 = 1): Promise<void> {
    const state = await countRequest(redis, meta.realmId, who, rate, by);
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
