import {
  type Actor,
  ChatError,
  fileChunkBytes,
  type Operation,
  type ParamsOf,
  type RequestMeta,
  type ResultOf,
  type ResumableUpload,
  streamsBody,
  uploadOperations,
} from '@natter/contracts';
import { type Bus, withDeadline } from '@natter/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BodyCount, Exchange } from '../authentication/caller.ts';
import type { BodyLease } from '../http/body-budget.ts';
import type { BodyTurns } from '../http/body-turns.ts';
import { headerOf } from '../http/headers.ts';
import { framingCheck } from '../http/read-body.ts';
import { tusBodyType, tusVersion } from '../http/tus-headers.ts';
import { tenantOf } from '../rate-limit/tenant.ts';

const { createResumableUpload, getResumableUpload, appendResumableUpload, deleteResumableUpload } = uploadOperations;

export interface TusCall extends Exchange {
  operation: Operation;
  params: Record<string, unknown>;
  actor: Actor;
  meta: RequestMeta;
  lease: BodyLease;
  /** Addresses of uploads begin with it. */
  base: string;
  /** Decides when work on behalf of the caller begins. */
  inTurn: <R>(work: () => Promise<R>) => Promise<R>;
  /** Decides when a part of the body is received. */
  bodyTurns: BodyTurns;
  /** Counts the body against the caller's rate limit. */
  bodyCount: BodyCount;
}

/** Refuses, before the body is read, another version of the protocol and a body that is not the bytes of a file. */
export function checkTus(request: FastifyRequest, reply: FastifyReply, operation: Operation): void {
  if (operation.protocol !== 'tus') return;
  const version = headerOf(request, 'tus-resumable');
  if (version !== undefined && version !== tusVersion) {
    reply.header('tus-version', tusVersion);
    throw new ChatError('UNSUPPORTED_TUS_VERSION', `The version of tus must be ${tusVersion}`);
  }
  if (operation.http?.method === 'PATCH' && !hasBytes(request))
    throw new ChatError('UNSUPPORTED_MEDIA_TYPE', `The body must be ${tusBodyType}`);
}

const hasBytes = (request: FastifyRequest): boolean =>
  headerOf(request, 'content-type')?.split(';')[0]?.trim().toLowerCase() === tusBodyType;

/** A request of a resumable upload: its parameters are headers, and so is its answer. */
export async function answerTus(bus: Bus, call: TusCall): Promise<unknown> {
  const { operation, params, request, reply } = call;
  if (operation.name === deleteResumableUpload.name) {
    await ask(bus, call, deleteResumableUpload, params as ParamsOf<typeof deleteResumableUpload>);
    return reply.code(204).send();
  }
  if (operation.name === createResumableUpload.name) {
    const created = await ask(bus, call, createResumableUpload, params as ParamsOf<typeof createResumableUpload>);
    const state = hasBytes(request) ? await receiveFirst(bus, call, created) : created;
    return sendState(reply.code(201).header('location', `${call.base}/tus/${state.upload_id}`), state);
  }
  const { upload_id, upload_offset } = params as ParamsOf<typeof appendResumableUpload>;
  const known = await ask(bus, call, getResumableUpload, { upload_id });
  if (!streamsBody(operation)) return sendState(setFullState(reply, known), known);
  if (known.upload_offset !== upload_offset)
    throw new ChatError(
      'UPLOAD_OFFSET_MISMATCH',
      `The upload continues at offset ${known.upload_offset}, not at ${upload_offset}`,
      { upload_offset: known.upload_offset },
    );
  const state = await receive(bus, call, known);
  if (state.url !== undefined) return sendState(reply, state);
  return setState(reply.code(204), state).send();
}

/** Each call has its own deadline, because a body may arrive slowly. */
function ask<O extends Operation<never, never> | Operation>(
  bus: Bus,
  { actor, meta, inTurn }: TusCall,
  operation: O,
  params: ParamsOf<O>,
): Promise<ResultOf<O>> {
  const { deadlineMs } = operation as unknown as Operation;
  return withDeadline(deadlineMs, () => inTurn(() => bus.call(operation, params, { actor, meta })));
}

/**
 * Stores the body of a creation. If the client repeats the creation under its key, the upload may already contain bytes
 * of this body: then the client continues it from there.
 */
async function receiveFirst(bus: Bus, call: TusCall, created: ResumableUpload): Promise<ResumableUpload> {
  if (call.meta.idempotencyKey === undefined) return receive(bus, call, created);
  const { upload_id } = created;
  const known = await ask(bus, call, getResumableUpload, { upload_id });
  return known.upload_offset === 0 ? receive(bus, call, known) : known;
}

/** Stores the body piece by piece while it arrives. After an interruption, the pieces that had arrived are kept. */
async function receive(bus: Bus, call: TusCall, from: ResumableUpload): Promise<ResumableUpload> {
  const { request, lease } = call;
  const left = from.upload_length - from.upload_offset;
  if (Number(request.headers['content-length'] ?? 0) > left)
    throw new ChatError('REQUEST_TOO_LARGE', 'The data is longer than Upload-Length');
  // A piece, and its copy for the bus.
  lease.grow(3 * fileChunkBytes);
  // The offset shows whether a part was stored before; a key of the client would name the whole request.
  const part = { ...call, meta: { ...call.meta, idempotencyKey: undefined } };
  let state = from;
  for await (const piece of piecesOf(call, from.upload_offset)) {
    const { upload_id, upload_offset } = state;
    state = await ask(bus, part, appendResumableUpload, { upload_id, upload_offset, bytes: piece.toString('base64') });
  }
  return state;
}

/** The body in pieces that fill the chunks of the stored file. The memory of a piece is used again for the next. */
async function* piecesOf(
  { request, actor, meta, bodyTurns, bodyCount }: TusCall,
  offset: number,
): AsyncGenerator<Buffer> {
  const tenant = tenantOf({ actor, meta });
  const piece = Buffer.allocUnsafeSlow(fileChunkBytes);
  const checkFraming = framingCheck(request);
  let room = fileChunkBytes - (offset % fileChunkBytes);
  let size = 0;
  let interruption: unknown;
  const turnFor = async (receivedBytes: number): Promise<true> => {
    await bodyCount.add(receivedBytes);
    return bodyTurns.run({ tenant, receivedBytes }, () => true);
  };
  const chunks = request.raw.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  try {
    for (;;) {
      const next = await chunks.next().catch((error: unknown) => {
        interruption = error;
      });
      if (!next || next.done) break;
      const { value: chunk } = next;
      checkFraming(chunk.length);
      const isReceived = await turnFor(chunk.length).catch((error: unknown) => {
        interruption = error;
      });
      if (!isReceived) break;
      for (let at = 0; at < chunk.length; ) {
        const taken = chunk.copy(piece, size, at, at + room - size);
        at += taken;
        size += taken;
        if (size < room) continue;
        yield piece.subarray(0, size);
        room = fileChunkBytes;
        size = 0;
      }
    }
    if (size > 0) yield piece.subarray(0, size);
    if (interruption !== undefined) throw interruption;
  } finally {
    // The rest of a refused body can then be discarded.
    await chunks.return?.();
  }
}

function setState(reply: FastifyReply, state: ResumableUpload): FastifyReply {
  reply.header('upload-offset', state.upload_offset);
  if (state.upload_offset < state.upload_length)
    reply.header('upload-expires', new Date(state.upload_expires * 1_000).toUTCString());
  return reply;
}

function setFullState(reply: FastifyReply, { upload_length, upload_metadata }: ResumableUpload): FastifyReply {
  if (upload_metadata !== '') reply.header('upload-metadata', upload_metadata);
  return reply.header('upload-length', upload_length);
}

const sendState = (reply: FastifyReply, state: ResumableUpload): FastifyReply =>
  setState(reply, state)
    .type('application/json; charset=utf-8')
    .send({ result: 'success', msg: '', ...state });
