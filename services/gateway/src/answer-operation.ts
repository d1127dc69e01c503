import type { Actor, Operation, Page, RequestMeta } from '@natter/contracts';
import { type Bus, withDeadline } from '@natter/service-kit';
import { type Admitted, checkWriteOnly } from './admission.ts';
import { answerPoll, type PollParams } from './answer-poll.ts';
import type { Authenticator } from './authenticator.ts';
import { type Callers, costOf, type Exchange, isPollOf } from './caller.ts';
import type { FairShare } from './fair-share.ts';
import { fileParamOf, handOver, sendFile } from './files.ts';
import { parseParams } from './parse-params.ts';
import type { Polls } from './polls.ts';
import { type Fields, filesOf } from './request-fields.ts';
import { headerOf, nameOf } from './request-meta.ts';
import { sendPage, setPageHeaders } from './send-page.ts';
import { sendSuccess } from './success.ts';
import { whileConnected } from './while-connected.ts';

/** A request whose operation is known. */
export interface Call extends Exchange {
  operation: Operation;
  fields: Fields;
  path: Fields;
  admitted: Admitted;
}

export interface AnswerContext {
  bus: Bus;
  polls: Polls;
  authenticator: Authenticator;
  callers: Callers;
  fairShare: FairShare;
  maxUploadBytes: number;
}

/** Checks the parameters by the contract, calls the owner of the operation and sends its answer. */
export async function answerOperation(context: AnswerContext, call: Call): Promise<unknown> {
  const { bus, callers } = context;
  const { operation, request, reply, fields, path, admitted } = call;
  const { meta } = admitted;
  // Old clients name themselves in a field instead of a header.
  if (fields.client !== undefined && operation.params.client === undefined) {
    meta.client = nameOf(fields.client);
    delete fields.client;
  }
  // A form may name another operation than the one that was admitted.
  const actor =
    operation === admitted.operation ? admitted.actor : await callers.identify(operation, call, meta, undefined);
  checkWriteOnly(operation, actor);
  // Small files travel with the other parameters.
  const small = operation.params.file?.encoding === 'text' ? filesOf(request).at(-1) : undefined;
  if (small) fields.file = small.bytes.toString('base64');
  const { params, ignored } = parseParams(operation, fields, path);
  const more = costOf(operation) - costOf(admitted.operation) + Math.floor(operation.weigh?.(params as never) ?? 0);
  await callers.countMore(more, operation, call, { meta, actor });
  const fileParam = fileParamOf(operation);
  if (fileParam) params[fileParam] = await handOver(bus, operation, filesOf(request), meta, context.maxUploadBytes);
  if (isPollOf(operation) && actor)
    return answerPoll(context, { request, reply, actor, meta, params: params as PollParams, ignored });
  const tenant = { realmId: meta.realmId, userId: actor?.userId ?? 0 };
  const ask = () => context.fairShare.run(tenant, () => bus.callBytes(operation, params as never, { actor, meta }));
  // A write goes on without its client, who cannot tell how far it has come.
  const leftMs = Math.max(operation.deadlineMs - admitted.spentMs, 1);
  const bytes = await (operation.isReadOnly ? whileConnected(reply.raw, leftMs, ask) : withDeadline(leftMs, ask));
  return operation.page ? answerPage(context, call, { meta, actor, bytes }) : sendSuccess(reply, bytes, ignored);
}

async function answerPage(
  { bus, callers }: AnswerContext,
  call: Call,
  { meta, actor, bytes }: { meta: RequestMeta; actor: Actor | undefined; bytes: readonly Uint8Array[] },
): Promise<unknown> {
  const { operation, request, reply } = call;
  const page = JSON.parse(Buffer.concat(bytes).toString()) as Page;
  if (!page.file) return sendPage(reply, page);
  if (!actor && request.method !== 'HEAD') await callers.countFile(operation, call, meta, page.file.size);
  setPageHeaders(reply, page);
  const [range, isHead] = [headerOf(request, 'range'), request.method === 'HEAD'];
  return sendFile(bus, operation, page.file, meta, { reply, range, isHead });
}
