/** The SQLSTATE of a failed statement, or the code of a failed socket. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** A unique constraint refused the row. */
export const isDuplicate = (error: unknown): boolean => sqlState(error) === '23505';

/** For `catch`: a row that a unique constraint refuses becomes this refusal. */
export const duplicateAs =
  (refusal: () => Error) =>
  (error: unknown): never => {
    throw isDuplicate(error) ? refusal() : error;
  };

const socketCode = /^(?:E(?:AI_)?[A-Z]+|ERR_(?:SOCKET|STREAM|SSL|TLS)_\w+)$/;

/** PostgreSQL closed the connection because its transaction was idle for too long. */
const idleInTransaction = '25P03';

/**
 * Whether the connection or the server is gone: class 08 and 57P, connections that were closed because their transaction was
 * idle, error codes of sockets and of TLS, and driver errors without a code.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = sqlState(error);
  if (code === undefined)
    return /connection terminated|connection error|not queryable|client was closed|timeout/i.test(error.message);
  return code.startsWith('08') || code.startsWith('57P') || code === idleInTransaction || socketCode.test(code);
}

/**
 * SQLSTATE classes that describe the state of the server, not the statement: connections (08), transactions that were
 * ended or are read-only (25), conflicts (40), resources (53), locks (55), operator intervention and time-outs (57),
 * system errors (58), configuration (F0), internal errors and corruption (XX). `NT408`: Natter's own deadline.
 */
const serverClasses = new Set(['08', '25', '40', '53', '55', '57', '58', 'F0', 'XX']);

/**
 * Whether the log has no partition of today, for example because PostgreSQL was off for days. event-queue creates it soon.
 * PostgreSQL reports this as a violated check constraint, but names the table and no constraint.
 */
export function isMissingPartition(error: unknown): boolean {
  if (sqlState(error) !== '23514') return false;
  const { schema, table, constraint } = error as Error & Partial<Record<'schema' | 'table' | 'constraint', string>>;
  return schema === 'log' && table === 'event' && constraint === undefined;
}

/** Whether the state of the server caused the error, so that the statement may succeed if it is repeated later. */
export function isServerTrouble(error: unknown): boolean {
  const code = sqlState(error);
  return code === 'NT408' || isMissingPartition(error) || (code?.length === 5 && serverClasses.has(code.slice(0, 2)));
}

/**
 * Whether PostgreSQL refused the statement because it is read-only (25006), out of disk space, memory or connections (class
 * 53), or has no partition of today. Nothing was committed, and the statement may succeed later.
 */
export function isRefusedForNow(error: unknown): boolean {
  const code = sqlState(error);
  return code === '25006' || isMissingPartition(error) || (code?.length === 5 && code.startsWith('53'));
}

/** `log.check_deadline` refused the commit: nothing was committed. */
export const isCommitRefused = (error: unknown): boolean => sqlState(error) === 'NT408';

/** The statement was cancelled, ran into `statement_timeout`, or `log.check_deadline` refused the commit. */
export const isTimeout = (error: unknown): boolean => sqlState(error) === '57014' || isCommitRefused(error);
