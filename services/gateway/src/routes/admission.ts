import { type Actor, ChatError, needsActor, type Operation, type RequestMeta, refusalOf } from '@natter/contracts';
import { withDeadline } from '@natter/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BodyCount, type Callers, type Exchange, isPollOf, type Shown } from '../authentication/caller.ts';
import { checkOrigin } from '../authentication/cross-site.ts';
import { sessionOf } from '../authentication/session-cookies.ts';
import { type AnswerMemory, networkSender } from '../http/answer-memory.ts';
import type { BodyBudget, BodyLease } from '../http/body-budget.ts';
import { browserNameOf } from '../http/browser-name.ts';
import { declaredForm } from '../http/declared-form.ts';
import { maxFileBytes } from '../http/files.ts';
import { headerOf } from '../http/headers.ts';
import type { Sender } from '../http/memory-shares.ts';
import { networkOf } from '../http/network.ts';
import { answerPreflight, isPreflight } from '../http/other-origins.ts';
import { BodyArrival, bodyTooLarge } from '../http/read-body.ts';
import { queryFieldsOf } from '../http/request-fields.ts';
import { setTusSupport, tusMethodOf, tusVersion } from '../http/tus-headers.ts';
import type { EarlyRefusals } from '../rate-limit/early-refusals.ts';
import type { Refusals } from '../rate-limit/refusals.ts';
import { personOf, tenantOf } from '../rate-limit/tenant.ts';
import { checkTus } from '../transports/tus.ts';
import { checkCaller } from './check-caller.ts';
import type { FoundRealm } from './realm-of-host.ts';
import { browserClient, metaOf, type RealmMeta } from './request-meta.ts';
import type { Place, Router, Surface } from './router.ts';

/** The result of the checks before the body is read. */
export interface Admitted {
  place: Place;
  /** The operation of the request's own method. A form may name another one. */
  operation: Operation | undefined;
  actor: Actor | undefined;
  /** The error if the actor may not call `operation`. It is thrown later, because a form may name another operation. */
  refusal: ChatError | undefined;
  shown: Shown;
  meta: RealmMeta;
  maxBodyBytes: number;
  /** The caller to whom the memory of the request's body and of its answer is counted. */
  sender: Sender;
  lease: BodyLease;
  /** Counts the body against the rate limit of the caller. */
  bodyCount: BodyCount;
  /** Releases the lease of the request, once. It is called at the latest when the response has ended. */
  releaseBody(): void;
  /** Time that the admission took of the request's deadline; receiving the body does not count. */
  spentMs: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    admitted: Admitted | undefined;
  }
}

const mebibyte = 1024 * 1024;
/** Used if the request's method names no operation: a form may name one. */
export const usualDeadlineMs = 15_000;
/** Maximum size of a form with a file, beyond the largest file. */
export const besideFileBytes = mebibyte;
const maxFormBytes = 4 * mebibyte;
const maxAnonymousFormBytes = mebibyte;

export interface AdmissionContext {
  router: Router;
  callers: Callers;
  budget: BodyBudget;
  /** The connection of a slow body is closed, because its memory is needed. */
  onSlowBody: () => void;
  answers: AnswerMemory;
  maxUploadBytes: number;
  findRealm: (host: string, meta: RequestMeta) => Promise<FoundRealm>;
  refusals: Refusals;
  earlyRefusals: EarlyRefusals;
}

/**
 * Decides before the body is read: whether the path exists, who sends the request, whether the rate is exceeded,
 * whether the caller may call the operation, and how large the body may be. Answers requests that need no body itself.
 */
export async function admit(
  context: AdmissionContext,
  { request, reply }: Exchange,
): Promise<FastifyReply | undefined> {
  const { router, budget, answers } = context;
  if (isPreflight(request)) return answerPreflight(reply);
  const place = router.find(request.url.split('?', 1)[0] ?? '');
  if (!place) throw new ChatError('NOT_FOUND', 'Not found');
  const { operations } = place;
  if (isTus(place)) reply.header('tus-resumable', tusVersion);
  if (request.method === 'OPTIONS') {
    if (isTus(place)) setTusSupport(reply, context.maxUploadBytes);
    return reply.code(204).header('allow', place.methods.join(', ')).send();
  }
  const operation = place.operation(methodOf(request, place))?.operation;
  if (!operation && request.method !== 'POST') return refuseMethod(context, { request, reply }, place);
  // HEAD must have no effect: link checkers send it.
  if (operation && request.method === 'HEAD' && (!operation.isReadOnly || isPollOf(operation)))
    return refuseMethod(context, { request, reply }, place);

  const begunAt = performance.now();
  const { meta, actor, shown, refusal } = await withDeadline(operation?.deadlineMs ?? usualDeadlineMs, () =>
    identify(context, { request, reply }, { place, operation, operations }),
  );
  // Early refusals do not compare keys in the query.
  if (actor && shown.keyInQuery === undefined)
    context.earlyRefusals.authenticated(request.raw, tenantOf({ meta, actor }));
  // A form may name another operation than the refused one.
  const named = request.method === 'POST' || !operation ? operations : [operation];
  const possible = refusal ? named.filter((other) => actor && !refusalOf(other, actor)) : named;
  if (refusal && possible.length === 0) throw refusal;
  if (operation && !refusal) checkTus(request, reply, operation);

  const maxBodyBytes = maxBodyOf(possible, actor, context.maxUploadBytes);
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw refusal ?? bodyTooLarge();
  const sender = actor
    ? { group: `realm:${actor.realmId}`, caller: `user:${actor.realmId}:${personOf(actor)}` }
    : networkSender(request);
  answers.check(sender);
  const lease = budget.open(sender, new BodyArrival(request, context.onSlowBody));
  const releaseBody = onlyOnce(lease.release);
  reply.raw.on('close', releaseBody);
  const spentMs = performance.now() - begunAt;
  const bodyCount = context.callers.countBody(operation, { request, reply }, actor);
  request.admitted = {
    place,
    operation,
    actor,
    refusal,
    shown,
    meta,
    maxBodyBytes,
    sender,
    lease,
    bodyCount,
    releaseBody,
    spentMs,
  };
  return undefined;
}

function onlyOnce(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}

const isTus = ({ operations }: Place): boolean => operations.some(({ protocol }) => protocol === 'tus');

/** The method of the place for which a request is. The form in its body may name another one. */
export function methodOf(request: FastifyRequest, place: Place): string {
  if (request.method === 'HEAD') return 'GET';
  return isTus(place) ? tusMethodOf(request) : request.method;
}

interface Target {
  place: Place;
  operation: Operation | undefined;
  operations: readonly Operation[];
}

interface Identified {
  meta: RealmMeta;
  actor: Actor | undefined;
  shown: Shown;
  /** The error if the contract does not permit the actor to call the operation. */
  refusal: ChatError | undefined;
}

/** Identifies the sender of a request, counts the request, and checks whether the sender may call the operation. */
async function identify(
  { callers, findRealm }: AdmissionContext,
  exchange: Exchange,
  { place, operation, operations }: Target,
): Promise<Identified> {
  const { request } = exchange;
  const meta = await metaOf(request, findRealm);
  const { surface } = place;
  const about = { surface, operation, realmUrl: meta.realmUrl };
  checkOrigin(request, about);
  const shown = shownBy(request, about);
  if (meta.client === 'Mozilla') {
    if (surface === 'json') meta.client = browserClient;
    // The list of sessions shows the name of the browser.
    else if (operation?.session === 'begins') meta.client = browserNameOf(headerOf(request, 'user-agent') ?? '');
  }
  const isForUsers = operations.every(needsActor);
  const actor = operation
    ? await callers.identify(operation, exchange, meta, shown)
    : isForUsers
      ? await callers.authenticate(exchange, meta, shown.credential)
      : undefined;
  await callers.countCall(operation, exchange, actor);
  if (!operation || !actor || !refusalOf(operation, actor)) return { meta, actor, shown, refusal: undefined };
  const renew = () => callers.renew(exchange, meta, shown.credential);
  return { meta, shown, ...(await checkCaller(operation, actor, renew)) };
}

/**
 * The credentials of a request that count. `/api/v1` ignores cookies, and `/json` ignores all other credentials. The gateway
 * does not make browsers ask for a name and password, because pages of other sites could then make browsers send them. A
 * cookie counts only where requests of other sites are refused. Pages and files take an API key or a cookie.
 */
function shownBy(
  request: FastifyRequest,
  { surface, operation, realmUrl }: { surface: Surface; operation: Operation | undefined; realmUrl: string },
): Shown {
  const { authorization: header } = request.headers;
  if (surface === 'api') return { credential: { header } };
  const session = sessionOf(request, realmUrl);
  if (surface === 'json' || operation?.session !== undefined) return { credential: { session } };
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return {
    credential: { header },
    // Browsers open the files of a page without a header, so the key is in the query.
    keyInQuery: queryFieldsOf(request.raw.url).api_key,
    optionalSession: isRead ? session : undefined,
  };
}

/** Counts the refusal by network, because the sender is not known yet. Thrown errors are counted in `http-server.ts`. */
function refuseMethod({ refusals }: AdmissionContext, { request, reply }: Exchange, place: Place): FastifyReply {
  const tooMany = refusals.count(networkOf(request.ip));
  if (tooMany) throw tooMany;
  return answerMethodNotAllowed(reply, place);
}

export function answerMethodNotAllowed(reply: FastifyReply, { methods }: Place): FastifyReply {
  return reply
    .code(405)
    .header('allow', methods.join(', '))
    .send({ result: 'error', msg: 'Method Not Allowed', allowed_methods: methods });
}

/** Large bodies are permitted only for operations with a file, and only for authenticated callers. */
function maxBodyOf(operations: readonly Operation[], actor: Actor | undefined, maxUploadBytes: number): number {
  const ofOne = (operation: Operation): number => {
    const largestFile = actor && maxFileBytes(operation, maxUploadBytes);
    if (largestFile !== undefined) return largestFile + besideFileBytes;
    return Math.min(declaredForm(operation).maxBytes, actor ? maxFormBytes : maxAnonymousFormBytes);
  };
  return Math.max(...operations.map(ofOne));
}
