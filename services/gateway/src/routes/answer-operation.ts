import { type Actor, type Operation, type RequestMeta, serverStatusOperations } from '@natter/contracts';
import { type Bus, withDeadline } from '@natter/service-kit';
import type { Authenticator } from '../authentication/authenticator.ts';
import { type Callers, type Exchange, isPollOf, weightOf } from '../authentication/caller.ts';
import { ensureCsrfCookie, setSession } from '../authentication/session-cookies.ts';
import type { AnswerMemory } from '../http/answer-memory.ts';
import type { BodyTurns } from '../http/body-turns.ts';
import { declaredForm } from '../http/declared-form.ts';
import { bytesOf, discardUnkept, handOver, rangeOf, sendFile } from '../http/files.ts';
import { headerOf, nameOf } from '../http/headers.ts';
import { readPage } from '../http/page-pieces.ts';
import { type Parsed, parseParams } from '../http/parse-params.ts';
import type { Fields, FilePart } from '../http/request-fields.ts';
import { sendPage, setPageHeaders } from '../http/send-page.ts';
import { sendSuccess } from '../http/success.ts';
import { whileConnected } from '../http/while-connected.ts';
import type { Polls } from '../queues/polls.ts';
import type { EarlyRefusals } from '../rate-limit/early-refusals.ts';
import type { InTurn } from '../rate-limit/in-turn.ts';
import { tenantOf } from '../rate-limit/tenant.ts';
import { answerPoll, type PollParams } from '../transports/answer-poll.ts';
import { answerTus } from '../transports/tus.ts';
import type { Admitted } from './admission.ts';
import { checkCaller } from './check-caller.ts';
import type { ServerStatus } from './server-status.ts';

/** A request whose operation is known. */
export interface Call extends Exchange {
  operation: Operation;
  fields: Fields;
  files: readonly FilePart[];
  /** Whether the form of the request is large. */
  isLarge: boolean;
  path: Fields;
  admitted: Admitted;
}

export interface AnswerContext {
  bus: Bus;
  polls: Polls;
  answers: AnswerMemory;
  authenticator: Authenticator;
  callers: Callers;
  inTurn: InTurn;
  earlyRefusals: EarlyRefusals;
  bodyTurns: BodyTurns;
  serverStatus: ServerStatus;
  maxUploadBytes: number;
}

/** Checks the parameters by the contract, calls the owner of the operation and sends its answer. */
export async function answerOperation(context: AnswerContext, call: Call): Promise<unknown> {
  const { bus } = context;
  const { operation, request, reply, fields, path, admitted } = call;
  const { meta } = admitted;
  // Old clients send their name in a field instead of a header.
  if (fields.client !== undefined && operation.params.client === undefined) {
    meta.client = nameOf(fields.client);
    delete fields.client;
  }
  const isChecked = operation === admitted.operation && !admitted.refusal;
  const actor = isChecked ? admitted.actor : await actorOf(context, call);
  if (isPollOf(operation) && actor) {
    const { params, ignored } = parseParams(operation, fields, path);
    const { credential } = admitted.shown;
    return answerPoll(context, { request, reply, actor, credential, meta, params: params as PollParams, ignored });
  }
  if (operation.protocol === 'tus' && actor) {
    const { params } = parseParams(operation, fields, path, request.headers);
    const { lease, place, bodyCount } = admitted;
    const base = place.surface === 'json' ? '/json' : '/api/v1';
    return answerTus(bus, {
      ...{ request, reply, operation, params, actor, meta, lease, bodyCount, base, bodyTurns: context.bodyTurns },
      inTurn: (work) => context.inTurn(tenantOf({ meta, actor }), work),
    });
  }
  const answer = async (): Promise<{ bytes: readonly Uint8Array[]; ignored: string[] }> => {
    const { params, ignored } = await paramsOf(context, call, actor);
    const send = () =>
      operation.name === serverStatusOperations.getServerStatus.name
        ? context.serverStatus.bytes(meta, () => context.callers.renew(call, meta, admitted.shown.credential))
        : bus.callBytes(operation, params as never, { actor, meta });
    const { fileKey } = declaredForm(operation);
    if (fileKey === undefined) return { bytes: await send(), ignored };
    const file = await handOver(bus, { operation, meta }, call.files, context.maxUploadBytes);
    params[fileKey] = file;
    return { bytes: await discardUnkept(bus, { operation, meta }, file, send), ignored };
  };
  const inTurn = () => context.inTurn(tenantOf({ meta, actor }), answer);
  context.earlyRefusals.arrived(request.raw);
  // A write continues after its client disconnects, because the client cannot know how far it has come.
  const leftMs = Math.max(operation.deadlineMs - admitted.spentMs, 1);
  const done = await (operation.isReadOnly ? whileConnected(reply.raw, leftMs, inTurn) : withDeadline(leftMs, inTurn));
  return operation.page
    ? answerPage(context, call, { meta, actor, bytes: done.bytes })
    : sendSuccess(reply, done.bytes, done.ignored);
}

/** The actor of a call, if the contract permits it the operation. A form may name another operation than the admitted one. */
async function actorOf({ callers }: AnswerContext, call: Call): Promise<Actor | undefined> {
  const { operation, admitted } = call;
  const { meta, shown } = admitted;
  const identified =
    operation === admitted.operation ? admitted.actor : await callers.identify(operation, call, meta, shown);
  if (!identified) return undefined;
  const { actor, refusal } = await checkCaller(operation, identified, () =>
    callers.renew(call, meta, shown.credential),
  );
  if (refusal) throw refusal;
  return actor;
}

/** The parameters of a call, except a file that is stored in chunks. Counts their weight. */
async function paramsOf({ callers, bodyTurns }: AnswerContext, call: Call, actor: Actor | undefined): Promise<Parsed> {
  const { operation, fields, files, path, admitted } = call;
  const { meta } = admitted;
  // Small files are passed with the other parameters.
  const small = operation.params.file?.encoding === 'text' ? files.at(-1) : undefined;
  if (small) {
    const text = small.bytes.toString('base64');
    admitted.lease.grow(text.length);
    fields.file = text;
  }
  const parse = () => parseParams(operation, fields, path);
  const { params, ignored } = call.isLarge
    ? await bodyTurns.run({ tenant: tenantOf({ meta, actor }) }, parse)
    : parse();
  const weight = Math.floor(operation.weigh?.(params as never) ?? 0);
  const more = weightOf(operation) - weightOf(admitted.operation) + weight;
  if (more > 0) await callers.countMore(more, operation, call, actor);
  return { params, ignored };
}

async function answerPage(
  { bus, callers }: AnswerContext,
  call: Call,
  { meta, actor, bytes }: { meta: RequestMeta; actor: Actor | undefined; bytes: readonly Uint8Array[] },
): Promise<unknown> {
  const { operation, request, reply } = call;
  const received = readPage(bytes);
  const { page, content } = received;
  const isHead = request.method === 'HEAD';
  const asked = page.file && rangeOf(headerOf(request, 'range'), page.file.size);
  const { realmUrl } = call.admitted.meta;
  if (page.session !== undefined) setSession(reply, realmUrl, page.session);
  else if (operation.session === 'form') ensureCsrfCookie(request, reply, realmUrl);
  // For HEAD, stored files are not read, so they do not count. Other content was read already.
  const size = page.file ? (isHead ? 0 : bytesOf(asked, page.file.size)) : (content?.size ?? page.body.length);
  // Media players request the rest of a file with a Range header, and read only a small part of the answer.
  const isRange = actor !== undefined && Array.isArray(asked);
  if (!isRange) await callers.countFile(size, operation, call, actor);
  if (!page.file) return sendPage(reply, received, { hasForm: operation.session !== undefined, isHead });
  setPageHeaders(reply, page);
  const beforeMore = isRange ? () => callers.countSent(operation, call, actor) : undefined;
  return sendFile(bus, { operation, meta }, page.file, { reply, asked, isHead, beforeMore });
}
