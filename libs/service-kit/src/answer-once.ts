import { createHash } from 'node:crypto';
import { ChatError, type Operation, unavailable } from '@natter/contracts';
import { type Answers, type Claim, KeyTaken, replay, sql, toStored } from '@natter/database';
import { JsonPieces } from './json-pieces.ts';
import type { Envelope } from './wire.ts';

/** Names a request that came under a key. */
export type Fingerprint = (request: string) => string;

export const plainFingerprint: Fingerprint = (request) => createHash('sha256').update(request).digest('base64url');

/** One request on the bus, which its caller may send again: the same id, and how often it was sent before. */
export interface BusCall {
  id: string;
  attempt: number;
}

/** Selects the rows of calls; the same text as the predicate of their index. */
export const isCallKey = sql.fragment`key LIKE 'call:%'`;

/**
 * Under what key the answer of a write is stored. A key that the client named, or `queue_id` and `local_id` of a send, stand for the
 * client's request; else the call's id stands for the call, which the caller on the bus may send again.
 */
export function claimOf(
  operation: Operation,
  { actor, meta, params }: Envelope,
  call: BusCall | undefined,
  fingerprint: Fingerprint,
): Claim | undefined {
  if (!isWrite(operation)) return undefined;
  const userId = actor?.userId ?? 0;
  const given = params as Record<string, unknown>;
  const named = meta.idempotencyKey ?? given.idempotency_key;
  const request = (): string => fingerprint(`${operation.name} ${JSON.stringify(withoutFileKey(operation, given))}`);
  if (typeof named === 'string') return { userId, namedBy: 'key', key: `key:${named}`, fingerprint: request() };
  const local = operation.retriedBy?.map((name) => given[name]);
  if (local?.every((value) => value !== undefined))
    return { userId, namedBy: 'local', key: `local:${local.join(':')}`, fingerprint: request() };
  return call && { userId, namedBy: 'call', key: `call:${call.id}`, fingerprint: '' };
}

/** Operations whose answers are stored. */
export const isWrite = ({ isReadOnly, http, page }: Pick<Operation, 'isReadOnly' | 'http' | 'page'>): boolean =>
  !isReadOnly && (http ?? page) !== undefined;

/** A file that comes again is stored under another key; its hash says whether it is the same. */
function withoutFileKey({ params: declared }: Operation, params: Record<string, unknown>): Record<string, unknown> {
  const file = Object.keys(declared).find((name) => declared[name]?.encoding === 'file');
  return file === undefined ? params : { ...params, [file]: { ...(params[file] as object), key: undefined } };
}

interface Once {
  realmId: number;
  claim: Claim;
  answers: Answers;
  /** Whether the call was sent before. */
  isRetry: boolean;
}

/**
 * Runs a write and stores its answer under its key; where the key has an answer, gives that one. The unit of the handler stores a
 * success with the change. What is stored first is the answer: a handler that succeeds without a change, or refuses, asks what the
 * key holds before its own answer stands.
 */
export async function answerOnce(
  { realmId, claim, answers, isRetry }: Once,
  operation: string,
  run: () => Promise<unknown>,
): Promise<unknown> {
  const isNamed = claim.namedBy === 'key';
  if (isNamed || isRetry) {
    const known = await answers.find(realmId, claim);
    if (known) return replay(known);
  }
  try {
    const result = await run();
    if (claim.stored) {
      if (claim.stored.result !== result) throw new Error(`${operation} does not answer with what it stored`);
    } else if (isNamed && !(result instanceof JsonPieces)) {
      const known = await answers.store(realmId, claim, { result: result ?? {} });
      if (known) return replay(known);
    }
    return result;
  } catch (error) {
    if (!isDecided(error) || claim.stored) throw error;
    const isTaken = error instanceof KeyTaken;
    // A call that was sent only once has no other attempt that could have stored an answer.
    if (!isTaken && !isRetry && claim.namedBy === 'call') throw error;
    // Credentials that ended say nothing about what was asked.
    const isStored = isNamed && !isTaken && error.status !== 401;
    const known = isStored ? await answers.store(realmId, claim, toStored(error)) : await answers.find(realmId, claim);
    if (known) return replay(known);
    throw isTaken ? unavailable(error) : error;
  }
}

/** A refusal, or the news that the key has an answer. A rate limit says nothing of the request. */
const isDecided = (error: unknown): error is ChatError | KeyTaken =>
  error instanceof KeyTaken ||
  (error instanceof ChatError && error.status < 500 && error.status !== 429 && error.code !== 'IDEMPOTENCY_KEY_REUSED');
