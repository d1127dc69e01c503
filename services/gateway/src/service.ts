import { operations } from '@natter/contracts';
import { connectRedis } from '@natter/event-log';
import { type Process, type Running, spanOfDelivery, watchRedis } from '@natter/service-kit';
import { admit, besideFileBytes } from './admission.ts';
import { answerOperation } from './answer-operation.ts';
import { createAuthenticator } from './authenticator.ts';
import { createBodyBudget } from './body-budget.ts';
import { createCallers, ratesOf } from './caller.ts';
import type { GatewayConfig } from './config.ts';
import { serveDocuments } from './documents.ts';
import { createFairShare } from './fair-share.ts';
import { createGatewayMetrics } from './gateway-metrics.ts';
import { createHttpServer } from './http-server.ts';
import { createLogVerifier } from './log-keys.ts';
import { createPolls, type Polls } from './polls.ts';
import { createRateLimiter } from './rate-limit.ts';
import { createRealmFinder } from './realm-of-host.ts';
import { createRealmTails } from './realm-tails.ts';
import { route } from './route.ts';
import { createRouter } from './router.ts';
import { createErrorMapper } from './send-error.ts';

const mebibyte = 1024 * 1024;

/** The HTTP edge. It has no code per endpoint: every route is made from the contract. */
export async function startGateway({ config, log, bus, metrics }: Process<GatewayConfig>): Promise<Running> {
  const redis = connectRedis(config.NATTER_REDIS_URL, (state, error) => log.info({ state, err: error }, 'Redis'));
  watchRedis(metrics, redis);
  const gatewayMetrics = createGatewayMetrics(metrics, {
    heldPolls: () => polls.held,
    logBytes: () => tails.bytes,
    bodyBytes: () => budget.held,
    requestsInFlight: () => fairShare.inFlight,
    requestsWaiting: () => fairShare.waiting,
  });
  const verifier = createLogVerifier(bus, log);
  const tails = createRealmTails({
    bus,
    log: redis,
    verifier,
    logger: log,
    maxBytes: config.NATTER_LOG_MEMORY_MIB * mebibyte,
    onEntry: (realmId, entry) => {
      const { event, at } = entry;
      if (event.trace) spanOfDelivery(`deliver ${event.type}`, event.trace, at, { realm: realmId });
      authenticator.follow(realmId, event);
      polls.follow(realmId, entry);
    },
    onSkip: (realmId) => {
      authenticator.lost(realmId);
      polls.lost(realmId);
    },
  });
  const polls: Polls = createPolls({ bus, log: redis, verifier, tails, onDelivered: gatewayMetrics.delivered });
  const authenticator = createAuthenticator(bus, tails.isCurrent);
  const fairShare = createFairShare(bus.lagMs);
  const router = createRouter(operations);
  const rates = ratesOf(config);
  const findRealm = createRealmFinder(bus, rates.anonymous);
  const callers = createCallers(authenticator, createRateLimiter(redis), rates);
  const maxUploadBytes = config.NATTER_MAX_UPLOAD_MIB * mebibyte;
  const budget = createBodyBudget({
    total: config.NATTER_BODY_MEMORY_MIB * mebibyte,
    perOwner: config.NATTER_BODY_MEMORY_PER_CALLER_MIB * mebibyte,
    largest: maxUploadBytes + besideFileBytes,
  });
  const server = createHttpServer({
    config,
    log,
    metrics: gatewayMetrics,
    toChatError: createErrorMapper({ log, router, maxUploadBytes }),
  });
  const admission = { router, callers, budget, maxUploadBytes, findRealm };
  const context = { bus, polls, authenticator, callers, fairShare, maxUploadBytes };
  serveDocuments(server.app);
  server.app.route({
    method: ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'],
    url: '/*',
    onRequest: (request, reply) => admit(admission, { request, reply }),
    handler: (request, reply) => route((call) => answerOperation(context, call), { request, reply }),
  });
  await server.listen();
  return {
    leave: server.leave,
    stop: async () => {
      await polls.stop();
      await server.stop();
      await tails.stop();
      redis.close();
    },
  };
}
