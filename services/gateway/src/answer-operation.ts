import { type Actor, badRequest, type Operation, type Page, type RequestMeta } from '@natter/contracts';
import type { LogRedis } from '@natter/event-log';
import type { Bus } from '@natter/service-kit';
import { answerPoll, type PollParams } from './answer-poll.ts';
import type { Authenticator } from './authenticator.ts';
import { type Callers, type Exchange, isPollOf, type Rates } from './caller.ts';
import { fileParamOf, handOver, sendFile } from './files.ts';
import { parseParams } from './parse-params.ts';
import type { Polls } from './polls.ts';
import { forgetRequests } from './rate-limit.ts';
import type { FoundRealm } from './realm-of-host.ts';
import { type Fields, filesOf } from './request-fields.ts';
import { headerOf, metaOf, nameOf } from './request-meta.ts';
import { sendPage, setPageHeaders } from './send-page.ts';
import { sendSuccess } from './success.ts';

/** A request whose operation is known. */
export interface Call extends Exchange {
  operation: Operation;
  fields: Fields;
  path: Fields;
}

export interface AnswerContext {
  bus: Bus;
  redis: LogRedis;
  polls: Polls;
  authenticator: Authenticator;
  callers: Callers;
  rates: Rates;
  maxUploadBytes: number;
  findRealm: (host: string, meta: RequestMeta) => Promise<FoundRealm>;
  /** The actor of a request that was authenticated before its body was read. */
  known: (request: Exchange['request']) => Actor | undefined;
}

/** Authenticates, counts, checks the parameters by the contract, calls the owner of the operation and sends its answer. */
export async function answerOperation(context: AnswerContext, call: Call): Promise<unknown> {
  const { bus, redis, callers, rates } = context;
  const { operation, request, reply, fields, path } = call;
  const meta = await metaOf(request, context.findRealm);
  // Old clients name themselves in a field instead of a header.
  if (fields.client !== undefined && operation.params.client === undefined) {
    meta.client = nameOf(fields.client);
    delete fields.client;
  }
  const actor = context.known(request) ?? (await callers.identify(operation, call, meta, fields.api_key));
  await callers.countCall(call, meta, actor, isPollOf(operation));
  if (actor?.isWriteOnly && !operation.isForWriteOnly)
    throw badRequest('This API is not available to incoming webhook bots.');
  // Small files travel with the other parameters.
  const small = operation.params.file?.encoding === 'text' ? filesOf(request).at(-1) : undefined;
  if (small) fields.file = small.bytes.toString('base64');
  const { params, ignored } = parseParams(operation, fields, path);
  const fileParam = fileParamOf(operation);
  if (fileParam) params[fileParam] = await handOver(bus, operation, filesOf(request), meta, context.maxUploadBytes);
  if (isPollOf(operation) && actor)
    return answerPoll(context, { request, reply, actor, meta, params: params as PollParams, ignored });
  const guessed = operation.guessedFor && `login:${String(params[operation.guessedFor]).toLowerCase().slice(0, 200)}`;
  if (guessed) await callers.count(reply, meta, guessed, rates.login);
  const bytes = await bus.callBytes(operation, params as never, { actor, meta });
  if (guessed) await forgetRequests(redis, meta.realmId, guessed, rates.login);
  return operation.page ? answerPage(bus, call, meta, bytes) : sendSuccess(reply, bytes, ignored);
}

function answerPage(
  bus: Bus,
  { operation, request, reply }: Call,
  meta: RequestMeta,
  bytes: readonly Uint8Array[],
): unknown {
  const page = JSON.parse(Buffer.concat(bytes).toString()) as Page;
  if (!page.file) return sendPage(reply, page);
  setPageHeaders(reply, page);
  const [range, isHead] = [headerOf(request, 'range'), request.method === 'HEAD'];
  return sendFile(bus, operation, page.file, meta, { reply, range, isHead });
}
