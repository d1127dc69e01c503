import type { IncomingMessage } from 'node:http';
import { type Actor, badRequest, ChatError, maxBodyBytes, type Operation, type RequestMeta } from '@natter/contracts';
import { withDeadline } from '@natter/service-kit';
import type { FastifyReply } from 'fastify';
import type { BodyBudget, BodyLease } from './body-budget.ts';
import { type Callers, type Exchange, isPollOf } from './caller.ts';
import { takesFile } from './files.ts';
import { networkOf } from './network.ts';
import { bodyTooLarge } from './read-body.ts';
import type { FoundRealm } from './realm-of-host.ts';
import { queryFieldsOf } from './request-fields.ts';
import { metaOf } from './request-meta.ts';
import type { Place, Router } from './router.ts';

/** What is known of a request before its body is read. */
export interface Admitted {
  place: Place;
  /** The operation of the request's own verb. A form may name another one. */
  operation: Operation | undefined;
  actor: Actor | undefined;
  meta: RequestMeta;
  maxBodyBytes: number;
  lease: BodyLease;
  /** What the admission took of the time that the request has; receiving its body does not count. */
  spentMs: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    admitted: Admitted | undefined;
  }
}

const mebibyte = 1024 * 1024;
/** Where the verb of the request names no operation: a form may. */
const usualDeadlineMs = 15_000;
/** What a form with a file may contain beside the largest file. */
export const besideFileBytes = mebibyte;
const maxFormBytes = 4 * mebibyte;
const maxAnonymousFormBytes = mebibyte;

export interface AdmissionContext {
  router: Router;
  callers: Callers;
  budget: BodyBudget;
  maxUploadBytes: number;
  findRealm: (host: string, meta: RequestMeta) => Promise<FoundRealm>;
}

/**
 * Decides before the body is read: does the path exist, who sends the request, is their rate exceeded, may they call the
 * operation, and how large may the body be. Answers requests that need no body itself.
 */
export async function admit(
  context: AdmissionContext,
  { request, reply }: Exchange,
): Promise<FastifyReply | undefined> {
  const { router, budget } = context;
  const place = router.find(request.url.split('?', 1)[0] ?? '');
  if (!place) throw new ChatError('NOT_FOUND', 'Not found');
  const operations = place.methods.flatMap((method) => place.operation(method)?.operation ?? []);
  const isCrossOrigin = operations.some((operation) => operation.isCrossOrigin);
  if (isCrossOrigin) reply.header('access-control-allow-origin', '*');
  if (request.method === 'OPTIONS') return answerOptions(reply, place, isCrossOrigin);
  const operation = place.operation(request.method === 'HEAD' ? 'GET' : request.method)?.operation;
  if (!operation && request.method !== 'POST') return answerMethodNotAllowed(reply, place);
  // HEAD must have no effect: programs that check links send it.
  if (operation && request.method === 'HEAD' && (!operation.isReadOnly || isPollOf(operation)))
    return answerMethodNotAllowed(reply, place);

  const begunAt = performance.now();
  const { meta, actor } = await withDeadline(operation?.deadlineMs ?? usualDeadlineMs, () =>
    identify(context, { request, reply }, operation, operations),
  );
  if (operation) checkWriteOnly(operation, actor);

  const maxBodyBytes = maxBodyOf(
    request.method === 'POST' || !operation ? operations : [operation],
    actor,
    context.maxUploadBytes,
  );
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw bodyTooLarge();
  const lease = budget.open(actor ? `user:${actor.realmId}:${actor.userId}` : `network:${networkOf(request.ip)}`);
  reply.raw.once('close', () => lease.release());
  const spentMs = performance.now() - begunAt;
  request.admitted = { place, operation, actor, meta, maxBodyBytes, lease, spentMs };
  return undefined;
}

/** Finds out who sent a request, and counts it. */
async function identify(
  { callers, findRealm }: AdmissionContext,
  { request, reply }: Exchange,
  operation: Operation | undefined,
  operations: readonly Operation[],
): Promise<{ meta: RequestMeta; actor: Actor | undefined }> {
  const meta = await metaOf(request, findRealm);
  const isForUsers = operations.every(({ caller }) => caller === 'user');
  const actor = operation
    ? await callers.identify(operation, { request, reply }, meta, keyInQuery(operation, request.raw))
    : isForUsers
      ? await callers.authenticate({ request, reply }, meta)
      : undefined;
  await callers.countCall(operation, { request, reply }, meta, actor);
  return { meta, actor };
}

export function checkWriteOnly(operation: Operation, actor: Actor | undefined): void {
  if (actor?.isWriteOnly && !operation.isForWriteOnly)
    throw badRequest('This API is not available to incoming webhook bots.');
}

export function answerMethodNotAllowed(reply: FastifyReply, { methods }: Place): FastifyReply {
  return reply
    .code(405)
    .header('allow', methods.join(', '))
    .send({ result: 'error', msg: 'Method Not Allowed', allowed_methods: methods });
}

function answerOptions(reply: FastifyReply, { methods }: Place, isCrossOrigin: boolean): FastifyReply {
  if (isCrossOrigin)
    reply
      .header('access-control-allow-methods', methods.join(', '))
      .header('access-control-allow-headers', 'authorization, content-type')
      .header('access-control-max-age', 86_400);
  return reply.code(204).header('allow', methods.join(', ')).send();
}

/** Large bodies are only for operations with a file, and only from authenticated callers. */
function maxBodyOf(operations: readonly Operation[], actor: Actor | undefined, maxUploadBytes: number): number {
  if (actor && operations.some(takesFile)) return maxUploadBytes + besideFileBytes;
  const longest = Math.max(...operations.map(maxBodyBytes));
  return Math.min(longest, actor ? maxFormBytes : maxAnonymousFormBytes);
}

/** Browsers open the files of a page without a header: the key is in the query. */
const keyInQuery = (operation: Operation, raw: IncomingMessage): string | undefined =>
  operation.page ? queryFieldsOf(raw.url).api_key : undefined;
