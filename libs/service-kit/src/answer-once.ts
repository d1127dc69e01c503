import { createHash } from 'node:crypto';
import { ChatError, isRefusal, type Operation, unavailable } from '@natter/contracts';
import { type Answers, type Claim, KeyTaken, replay, sql, toStored } from '@natter/database';
import { JsonPieces } from './json-pieces.ts';
import { requestText } from './request-text.ts';
import type { Envelope } from './wire.ts';

/** Identifies the content of a request that has a key. Fingerprints with a former secret follow the current one. */
export type Fingerprint = (request: string) => readonly [string, ...string[]];

export const plainFingerprint: Fingerprint = (request) => [createHash('sha256').update(request).digest('base64url')];

/** A request on the bus that its caller may repeat: the id stays the same, `attempt` counts repetitions. */
export interface BusCall {
  id: string;
  attempt: number;
}

/** Selects rows of calls. The text must equal the predicate of their index. */
export const isCallKey = sql.fragment`key LIKE 'call:%'`;

/**
 * The key under which the answer of a write is stored. A client's request is identified by the client's key, or by
 * `queue_id` and `local_id` of a send. Any other call is identified by its call id, which the caller on the bus
 * repeats.
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
  if (typeof named === 'string')
    return { userId, namedBy: 'key', key: `key:${named}`, ...identityOf(operation, given, fingerprint) };
  const local = operation.retriedBy?.map((name) => given[name]);
  if (local?.every((value) => value !== undefined))
    return { userId, namedBy: 'local', key: `local:${local.join(':')}`, ...identityOf(operation, given, fingerprint) };
  return call && { userId, namedBy: 'call', key: `call:${call.id}`, fingerprint: '' };
}

function identityOf(
  operation: Operation,
  params: Record<string, unknown>,
  fingerprint: Fingerprint,
): Pick<Claim, 'fingerprint' | 'otherFingerprints'> {
  const sent = withoutFileKey(operation, params);
  // Processes of the previous release, which run beside this one during an upgrade, know only a fingerprint of all
  // parameters in the order of the contract. The next release can store the one that does not depend on the contract.
  const of = (form: unknown) => fingerprint(`${operation.name} ${JSON.stringify(form)}`);
  const [stored, ...withFormerSecrets] = of(sent);
  const otherFingerprints = () => [
    ...withFormerSecrets,
    ...fingerprint(requestText(operation, sent)),
    ...(operation.formerParams?.(sent) ?? []).flatMap(of),
  ];
  return { fingerprint: stored, otherFingerprints };
}

/**
 * The claim of a request whose local id another request had before: clients that do not repeat requests may use a local
 * id again. The first request has the key without a suffix, as in earlier releases.
 */
export function claimBesideOther(claim: Claim, error: unknown): Claim | undefined {
  const isReused = error instanceof ChatError && error.code === 'IDEMPOTENCY_KEY_REUSED';
  const isPlain = claim.namedBy === 'local' && !claim.key.endsWith(`:${claim.fingerprint}`);
  return isReused && isPlain ? { ...claim, key: `${claim.key}:${claim.fingerprint}` } : undefined;
}

/** Operations whose answers are stored. */
export const isWrite = ({ isReadOnly, http, page }: Pick<Operation, 'isReadOnly' | 'http' | 'page'>): boolean =>
  !isReadOnly && (http ?? page) !== undefined;

/** A repeated upload is stored under another key; its hash shows whether the file is the same. */
function withoutFileKey({ params: declared }: Operation, params: Record<string, unknown>): Record<string, unknown> {
  const file = Object.keys(declared).find((name) => declared[name]?.encoding === 'file');
  return file === undefined ? params : { ...params, [file]: { ...(params[file] as object), key: undefined } };
}

interface Once {
  realmId: number;
  claim: Claim;
  answers: Answers;
  /** Whether this process has seen a repetition of the call so far. */
  isRetry: () => boolean;
  /** The handler counts and checks a password before a stored answer is used. */
  checksPassword?: boolean;
  /** The change is committed, and its request is answered, although the handler failed afterwards. */
  failedAfterCommit: (error: unknown) => void;
}

/**
 * Runs a write and stores its answer under its key; if the key has an answer already, returns that one. The unit of the
 * handler stores a success together with the change. The first stored answer wins: a handler that refuses, or succeeds
 * without a change, looks up the key before its own answer is used. A handler that fails after its change was committed
 * is answered with what was stored.
 */
export async function answerOnce(
  { realmId, claim, answers, isRetry, checksPassword = false, failedAfterCommit }: Once,
  operation: string,
  run: () => Promise<unknown>,
): Promise<unknown> {
  const isNamed = claim.namedBy === 'key';
  if (isNamed ? !checksPassword : isRetry()) {
    const known = await answers.find(realmId, claim);
    if (known) return replay(known);
  }
  try {
    const result = await run();
    if (claim.stored) {
      if (claim.stored.result !== result) throw new Error(`${operation} must answer with the result that it stored`);
    } else if (!(result instanceof JsonPieces) && (isNamed || isRetry())) {
      const known = isNamed
        ? await answers.store(realmId, claim, { result: result ?? {} })
        : await answers.find(realmId, claim);
      if (known) return replay(known);
    }
    return result;
  } catch (error) {
    if (claim.stored) {
      failedAfterCommit(error);
      return claim.stored.result;
    }
    if (!isDecided(error)) throw error;
    const isTaken = error instanceof KeyTaken;
    const isLimit = !isTaken && error.status === 429;
    // The limit may count what another attempt of the request did. Guesses of a password get no answer above theirs.
    if (isLimit && (checksPassword || !isRetry())) throw error;
    // A call that was sent only once has no other attempt that could have stored an answer. It may have been repeated
    // and executed by another process while the handler ran.
    if (!isTaken && !isRetry() && claim.namedBy === 'call') throw error;
    // Expired credentials and rate limits are not results of the request.
    const isStored = isNamed && !isTaken && !isLimit && error.status !== 401;
    const known = isStored ? await answers.store(realmId, claim, toStored(error)) : await answers.find(realmId, claim);
    if (known) return replay(known);
    throw isTaken ? unavailable(error) : error;
  }
}

/** A refusal, or the error that the key has an answer. */
const isDecided = (error: unknown): error is ChatError | KeyTaken =>
  error instanceof KeyTaken || (isRefusal(error) && error.code !== 'IDEMPOTENCY_KEY_REUSED');
