import { fileURLToPath } from 'node:url';
import { operations } from '@natter/contracts';
import { connectRedis, type LogRedis } from '@natter/event-log';
import { type Bus, type Process, type Running, spanOfDelivery, watchRedis } from '@natter/service-kit';
import type { FastifyInstance } from 'fastify';
import { serveDocuments } from './api-docs/documents.ts';
import { type Authenticator, createAuthenticator } from './authentication/authenticator.ts';
import { createCallers, ratesOf } from './authentication/caller.ts';
import { serveDocsSite } from './docs-site/serve-docs-site.ts';
import { type AnswerBudget, createAnswerBudget } from './http/answer-budget.ts';
import { type BodyBudget, createBodyBudget } from './http/body-budget.ts';
import { createBodyTurns } from './http/body-turns.ts';
import type { GatewayConfig } from './http/config.ts';
import { createGatewayMetrics, type GatewayMetrics } from './http/gateway-metrics.ts';
import { memoryBudgets } from './http/memory-budgets.ts';
import { createWebClient } from './http/web-client.ts';
import { createLogVerifier } from './log-tail/log-keys.ts';
import { createRealmTails, type RealmTails } from './log-tail/realm-tails.ts';
import { confirmService } from './queues/confirm-service.ts';
import { createEventTexts, type EventTexts } from './queues/event-texts.ts';
import { createPolls, type Polls } from './queues/polls.ts';
import { type CostlyLane, createCostlyLane } from './rate-limit/costly-lane.ts';
import { createEarlyRefusals } from './rate-limit/early-refusals.ts';
import { createFairShare, type FairShare } from './rate-limit/fair-share.ts';
import type { InTurn } from './rate-limit/in-turn.ts';
import { createPauses } from './rate-limit/pauses.ts';
import { createRateLimiter } from './rate-limit/rate-limit.ts';
import { createRefusals } from './rate-limit/refusals.ts';
import { shareUsage } from './rate-limit/shared-usage.ts';
import { createSlowRefusals } from './rate-limit/slow-refusals.ts';
import { admit, besideFileBytes } from './routes/admission.ts';
import { answerOperation, type Call } from './routes/answer-operation.ts';
import { createHttpServer } from './routes/http-server.ts';
import { createRealmFinder } from './routes/realm-of-host.ts';
import { route } from './routes/route.ts';
import { createRouter } from './routes/router.ts';
import { createErrorMapper } from './routes/send-error.ts';
import { createServerStatus } from './routes/server-status.ts';

const mebibyte = 1024 * 1024;
/** Maximum number of queues in memory: more than twice the connections of a gateway. */
const maxQueues = 50_000;

/** The HTTP edge. Every route is derived from the contract. */
export async function startGateway({ config, log, bus, metrics }: Process<GatewayConfig>): Promise<Running> {
  const redis = connectRedis(config.NATTER_REDIS_URL, (state, error) =>
    log.info({ state, err: error }, 'Redis connection'),
  );
  watchRedis(metrics, redis);
  const gatewayMetrics = createGatewayMetrics(metrics, {
    heldPolls: () => polls.held,
    logBytes: () => tails.bytes + texts.bytes,
    bodyBytes: () => budget.held,
    answerBytes: () => answerBudget.heldBytes,
    requestsInFlight: () => fairShare.inFlight,
    requestsWaiting: () => lane.waiting + fairShare.waiting,
  });
  const { fairShare, lane, inTurn, isFull } = createTurns(config, bus);
  const delivery = { redis, inTurn, onDelivered: gatewayMetrics.delivered };
  const { tails, texts, polls, authenticator } = createDelivery({ config, log, bus }, delivery);
  const router = createRouter(operations);
  const rates = ratesOf(config);
  const earlyRefusals = createEarlyRefusals(isFull, rates.user);
  const findRealm = createRealmFinder(bus, rates.anonymous);
  const [slowRefusals, pauses] = [createSlowRefusals(), createPauses()];
  const callers = createCallers({ authenticator, limiter: createRateLimiter(redis), rates, slowRefusals, pauses });
  const { maxUploadBytes, budget, answerBudget } = createBudgets(config);
  const refusals = createRefusals(rates.anonymous);
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
  const { answers } = server;
  const onSlowBody = () => gatewayMetrics.cut('slow');
  const shared = { router, callers, answers, maxUploadBytes, earlyRefusals };
  const admission = { ...shared, budget, onSlowBody, findRealm, refusals };
  const serverStatus = createServerStatus(bus);
  const context = { ...shared, bus, polls, authenticator, inTurn, bodyTurns, serverStatus };
  serveDocs(server.app);
  const pagePaths = operations.flatMap(({ page }) => page?.path ?? []);
  const routing = { answer: (call: Call) => answerOperation(context, call), inTurn: lane.run, bodyTurns };
  const webClient = createWebClient(fileURLToPath(new URL('../dist/', import.meta.url)), pagePaths);
  server.app.route({
    method: ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'],
    url: '/*',
    onRequest: async (request, reply) => webClient.answer(request, reply) ?? admit(admission, { request, reply }),
    handler: (request, reply) => route(routing, { request, reply }),
  });
  await server.listen();
  await bus.announce('gateway');
  const confirming = confirmService(bus, log);
  return {
    leave: server.leave,
    stop: async () => {
      confirming.stop();
      pauses.stop();
      await polls.stop();
      await server.stop();
      await tails.stop();
      redis.close();
    },
  };
}

type Parts = Pick<Process<GatewayConfig>, 'config' | 'log' | 'bus'>;

/** The readers of the realms' logs: held polls, and the authenticator's cache. */
function createDelivery(
  { config, log, bus }: Parts,
  { redis, inTurn, onDelivered }: { redis: LogRedis; inTurn: InTurn; onDelivered: GatewayMetrics['delivered'] },
): { tails: RealmTails; texts: EventTexts; polls: Polls; authenticator: Authenticator } {
  const budgets = memoryBudgets(config);
  const verifier = createLogVerifier(bus, log);
  const tails = createRealmTails({
    bus,
    log: redis,
    verifier,
    logger: log,
    maxBytes: budgets.entries,
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
  const texts = createEventTexts(budgets.texts);
  const records = { maxQueues, maxRecordBytes: budgets.queues };
  const polls = createPolls({ bus, log: redis, verifier, tails, texts, onDelivered, inTurn, ...records });
  const authenticator = createAuthenticator(bus, tails, budgets.actors);
  return { tails, texts, polls, authenticator };
}

interface Turns {
  fairShare: FairShare;
  lane: CostlyLane;
  inTurn: InTurn;
  /** Whether a request of the tenant would be refused, after those that are coming. */
  isFull: FairShare['refuses'];
}

/** Costly requests wait in their lane first, then all requests for the share of their tenant. */
function createTurns(config: GatewayConfig, bus: Bus): Turns {
  const fairShare = createFairShare(bus.lag);
  const lane = createCostlyLane({
    lag: bus.lag,
    shared: shareUsage(bus),
    unreported: bus.unreportedCosts,
    crowding: fairShare.crowding,
    quietLagMs: config.NATTER_QUIET_LAG_MS,
  });
  return {
    fairShare,
    lane,
    inTurn: (tenant, work) => lane.run(tenant, () => fairShare.run(tenant, work)),
    isFull: (tenant, coming) => fairShare.refuses(tenant, coming) || lane.refuses(tenant),
  };
}

interface Budgets {
  maxUploadBytes: number;
  budget: BodyBudget;
  answerBudget: AnswerBudget;
}

function createBudgets(config: GatewayConfig): Budgets {
  const maxUploadBytes = config.NATTER_MAX_UPLOAD_MIB * mebibyte;
  const { bodies, answers } = memoryBudgets(config);
  const budget = createBodyBudget({
    total: bodies,
    perCaller: config.NATTER_BODY_MEMORY_PER_CALLER_MIB * mebibyte,
    largest: maxUploadBytes + besideFileBytes,
  });
  return { maxUploadBytes, budget, answerBudget: createAnswerBudget(answers) };
}

function serveDocs(app: FastifyInstance): void {
  serveDocuments(app);
  serveDocsSite(app, {
    assets: fileURLToPath(new URL('../docs-assets/', import.meta.url)),
    guides: fileURLToPath(new URL('../guides/', import.meta.url)),
  });
}
