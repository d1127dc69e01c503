import { ChatError } from '@natter/contracts';
import { z } from 'zod';
import { withoutCost } from './cost.ts';
import { type Database, type Query, sql } from './database.ts';
import type { NamedRow } from './named-row.ts';
import type { InsertNumbered } from './numbered.ts';

/**
 * The idempotency key of a write. The transaction that commits the change also inserts a row with the key and the answer. So
 * the change and the answer are stored together or not at all, and of two requests with one key only one is committed.
 */
export interface Claim {
  /** The caller; 0 for callers without an account. */
  readonly userId: number;
  /** The source of the key. `key`: the client's key; `local`: the client's own ids; `call`: the id of the bus call. */
  readonly namedBy: 'key' | 'local' | 'call';
  readonly key: string;
  /** Identifies the request: another request under the same key is refused. */
  readonly fingerprint: string;
  /** Fingerprints of the same request that an earlier release, or a process with a former secret, may have stored. */
  readonly otherFingerprints?: () => readonly string[];
  /** The stored answer, set after the commit. */
  stored?: { result: unknown };
}

/** Another request under the key was committed first; its answer applies. */
export class KeyTaken extends Error {
  /** The row of the key, if the error of Postgres named it. */
  readonly row: NamedRow | undefined;

  constructor(row?: NamedRow) {
    super('the key of this write has an answer');
    this.row = row;
    this.name = 'KeyTaken';
  }
}

/** The stored answer of a key: the result or the refusal. */
export type Answer =
  | { result: unknown }
  | { error: Pick<ChatError, 'code' | 'message' | 'extra' | 'status'> }
  | { isTooLarge: true };

/** Reads and stores answers outside the unit that makes a change. */
export interface Answers {
  /** The answer stored under the key. Throws IDEMPOTENCY_KEY_REUSED if it belongs to another request. */
  find(realmId: number, claim: Claim): Promise<Answer | undefined>;
  /** Stores an answer without a change; returns the answer that was stored before, if any. */
  store(realmId: number, claim: Claim, answer: Answer): Promise<Answer | undefined>;
}

/** Maximum length of a stored answer, in characters. */
const maxAnswer = 1_000_000;

const storedRow = z.object({
  fingerprint: z.string(),
  answer: z.any(),
  first_number: z.number().nullable(),
  id_offset: z.number().nullable(),
  is_old: z.boolean(),
});

/** Stores the answer together with its change. */
export const insertAnswer = (schema: string, realmId: number, claim: Claim, answer: Answer): Query => sql.unsafe`
  INSERT INTO ${sql.identifier([schema, 'idempotency'])} (realm_id, user_id, key, fingerprint, answer)
  VALUES (${realmId}, ${claim.userId}, ${claim.key}, ${claim.fingerprint}, ${toJson(answer)}::json)`;

/** A row of `insertNumberedAnswers`: the property `named` of the result is the log number. */
export const numberedAnswer = (claim: Claim, fromEnd: number, named: string, rest: object) => ({
  from_end: fromEnd,
  user_id: claim.userId,
  key: claim.key,
  fingerprint: claim.fingerprint,
  named,
  rest,
});

export const insertNumberedAnswers =
  (schema: string): InsertNumbered =>
  (rows) =>
    sql.unsafe`
    INSERT INTO ${sql.identifier([schema, 'idempotency'])} (realm_id, user_id, key, fingerprint, answer)
    SELECT r.realm_id, r.user_id, r.key, r.fingerprint, json_build_object('result', r.rest || jsonb_build_object(r.named, r.number))
    FROM ${rows(sql.fragment`user_id int, key text, fingerprint text, named text, rest jsonb`)} r`;

export function createAnswers(database: Database, schema: string): Answers {
  const table = sql.identifier([schema, 'idempotency']);
  const find: Answers['find'] = async (realmId, claim) => {
    const { userId, key, fingerprint, otherFingerprints } = claim;
    const row = await database.maybeOne(sql.type(storedRow)`
      SELECT fingerprint, answer, first_number, id_offset, created_at < now() - interval '24 hours' AS is_old
      FROM ${table} WHERE realm_id = ${realmId} AND user_id = ${userId} AND key = ${key}`);
    if (row?.is_old)
      await database.run(sql.unsafe`
        DELETE FROM ${table} WHERE realm_id = ${realmId} AND user_id = ${userId} AND key = ${key} AND created_at < now() - interval '24 hours'`);
    if (!row || row.is_old) return undefined;
    if (row.fingerprint !== fingerprint && !otherFingerprints?.().includes(row.fingerprint))
      throw new ChatError('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used for another request');
    // The commit that stored the row may not have reached a synchronous standby yet. The commit of this statement waits until
    // both have. `withoutCost`, because the database does no work while it waits.
    await withoutCost(() => database.run(sql.unsafe`SELECT pg_logical_emit_message(true, 'natter', 'replay')`));
    return answerOf(row);
  };
  return {
    find,
    async store(realmId, claim, answer) {
      const stored = await database.run(sql.unsafe`
        ${insertAnswer(schema, realmId, claim, answer)} ON CONFLICT (realm_id, user_id, key) DO NOTHING`);
      return stored > 0 ? undefined : find(realmId, claim);
    },
  };
}

/** Answers of an earlier release store the id of the sent message separately. */
function answerOf({ answer, first_number, id_offset }: z.output<typeof storedRow>): Answer {
  if (first_number === null || id_offset === null) return answer as Answer;
  return { result: { ...answer?.result, id: first_number + id_offset } };
}

function toJson(answer: Answer): string {
  const text = JSON.stringify(answer);
  return text.length > maxAnswer ? JSON.stringify({ isTooLarge: true }) : text;
}

/** Returns the stored result, or throws the stored refusal. */
export function replay(answer: Answer): unknown {
  if ('isTooLarge' in answer)
    throw new ChatError(
      'IDEMPOTENCY_KEY_REUSED',
      'This request was done before; its answer is too large to be given again',
    );
  if (!('error' in answer)) return answer.result;
  const { code, message, extra, status } = answer.error;
  throw new ChatError(code, message, extra, { status });
}

export const toStored = ({ code, message, extra, status }: ChatError): Answer => ({
  error: { code, message, extra, status },
});
