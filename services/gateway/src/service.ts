import { fileURLToPath } from 'node:url';
import { operations } from '@natter/contracts';
import { connectRedis } from '@natter/event-log';
import { type Process, type Running, spanOfDelivery, watchRedis } from '@natter/service-kit';
import { serveDocuments } from './api-docs/documents.ts';
import { createAuthenticator } from './authentication/authenticator.ts';
import { createCallers, ratesOf } from './authentication/caller.ts';
import { serveDocsSite } from './docs-site/serve-docs-site.ts';
import { createAnswerBudget } from './http/answer-budget.ts';
import { createBodyBudget } from './http/body-budget.ts';
import { createBodyTurns } from './http/body-turns.ts';
import type { GatewayConfig } from './http/config.ts';
import { createGatewayMetrics } from './http/gateway-metrics.ts';
import { createWebClient } from './http/web-client.ts';
import { createLogVerifier } from './log-tail/log-keys.ts';
import { createRealmTails } from './log-tail/realm-tails.ts';
import { confirmService } from './queues/confirm-service.ts';
import { createPolls, type Polls } from './queues/polls.ts';
import { createCostlyLane } from './rate-limit/costly-lane.ts';
import { createEarlyRefusals } from './rate-limit/early-refusals.ts';
import { createFairShare } from './rate-limit/fair-share.ts';
import { createRateLimiter } from './rate-limit/rate-limit.ts';
import { createRefusals } from './rate-limit/refusals.ts';
import { shareUsage } from './rate-limit/shared-usage.ts';
import { createSlowRefusals } from './rate-limit/slow-refusals.ts';
import { admit, besideFileBytes } from './routes/admission.ts';
import { answerOperation } from './routes/answer-operation.ts';
import { createHttpServer } from './routes/http-server.ts';
import type { InTurn } from './routes/in-turn.ts';
import { createRealmFinder } from './routes/realm-of-host.ts';
import { route } from './routes/route.ts';
import { createRouter } from './routes/router.ts';
import { createErrorMapper } from './routes/send-error.ts';

const mebibyte = 1024 * 1024;
const maxQueues = 200_000;

/** The HTTP edge. It has no code per endpoint: every route is derived from the contract. */
export async function startGateway({ config, log, bus, metrics }: Process<GatewayConfig>): Promise<Running> {
  const redis = connectRedis(config.NATTER_REDIS_URL, (state, error) => log.info({ state, err: error }, 'Redis'));
  watchRedis(metrics, redis);
  const gatewayMetrics = createGatewayMetrics(metrics, {
    heldPolls: () => polls.held,
    logBytes: () => tails.bytes,
    bodyBytes: () => budget.held,
    answerBytes: () => answerBudget.heldBytes,
    requestsInFlight: () => fairShare.inFlight,
    requestsWaiting: () => lane.waiting + fairShare.waiting,
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
  const polls: Polls = createPolls({
    bus,
    log: redis,
    verifier,
    tails,
    onDelivered: gatewayMetrics.delivered,
    maxQueues,
  });
  const authenticator = createAuthenticator(bus, tails.isCurrent);
  const fairShare = createFairShare(bus.lag);
  const lane = createCostlyLane({
    lag: bus.lag,
    shared: shareUsage(bus),
    crowding: fairShare.crowding,
    quietLagMs: config.NATTER_QUIET_LAG_MS,
  });
  const inTurn: InTurn = (tenant, work) => lane.run(tenant, () => fairShare.run(tenant, work));
  const router = createRouter(operations);
  const rates = ratesOf(config);
  const earlyRefusals = createEarlyRefusals(fairShare.refuses, rates.user);
  const findRealm = createRealmFinder(bus, rates.anonymous);
  const slowRefusals = createSlowRefusals();
  const callers = createCallers({ authenticator, limiter: createRateLimiter(redis), rates, slowRefusals });
  const maxUploadBytes = config.NATTER_MAX_UPLOAD_MIB * mebibyte;
  const budget = createBodyBudget({
    total: config.NATTER_BODY_MEMORY_MIB * mebibyte,
    perOwner: config.NATTER_BODY_MEMORY_PER_CALLER_MIB * mebibyte,
    largest: maxUploadBytes + besideFileBytes,
  });
  const refusals = createRefusals(rates.anonymous);
  const answerBudget = createAnswerBudget(config.NATTER_ANSWER_MEMORY_MIB * mebibyte);
  const bodyTurns = createBodyTurns();
  const server = createHttpServer({
    config,
    log,
    answerBudget,
    refusals,
    early: { router, earlyRefusals, metrics: gatewayMetrics },
    slowRefusals,
    bodyTurns,
    metrics: gatewayMetrics,
    toChatError: createErrorMapper({ log, router, maxUploadBytes }),
  });
  const admission = { router, callers, budget, answers: server.answers, maxUploadBytes, findRealm, refusals };
  const context = {
    bus,
    polls,
    answers: server.answers,
    authenticator,
    callers,
    inTurn,
    earlyRefusals,
    bodyTurns,
    maxUploadBytes,
  };
  serveDocuments(server.app);
  serveDocsSite(server.app, {
    assets: fileURLToPath(new URL('../docs-assets/', import.meta.url)),
    guides: fileURLToPath(new URL('../guides/', import.meta.url)),
  });
  const webClient = createWebClient(fileURLToPath(new URL('../dist/', import.meta.url)));
  server.app.route({
    method: ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'],
    url: '/*',
    onRequest: async (request, reply) => webClient.answer(request, reply) ?? admit(admission, { request, reply }),
    handler: (request, reply) =>
      route({ answer: (call) => answerOperation(context, call), inTurn: lane.run, bodyTurns }, { request, reply }),
  });
  await server.listen();
  await bus.announce('gateway', '1.0.0');
  const confirming = confirmService(bus, log);
  return {
    leave: server.leave,
    stop: async () => {
      confirming.stop();
      await polls.stop();
      await server.stop();
      await tails.stop();
      redis.close();
    },
  };
}
