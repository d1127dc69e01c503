import { badRequest, ChatError, mayAnswer, type Operation, unavailable } from '@natter/contracts';
import { isServerTrouble, sqlState } from '@natter/database';
import { LRUCache } from 'lru-cache';
import type { Logger } from './logging.ts';

/** Logs why a request failed if the server is the cause, and returns the error for the caller. */
export function createFailureLog(): (error: unknown, operation: Operation, requestLog: () => Logger) => ChatError {
  const outages = onceASecond();
  return (thrown, operation, requestLog) => {
    const error = !(thrown instanceof ChatError) && isServerTrouble(thrown) ? unavailable(thrown) : thrown;
    // No column can hold the number, so it cannot identify an object.
    if (sqlState(error) === '22003') {
      requestLog().info({ err: error }, 'number out of range');
      return badRequest('A number is out of range');
    }
    // An index entry holds about 2,700 bytes, less than some texts that the contract permits.
    if (sqlState(error) === '54000') {
      requestLog().info({ err: error }, 'value too long for an index');
      return badRequest('A value is too long');
    }
    if (!(error instanceof ChatError)) {
      requestLog().error({ err: error }, 'request failed');
      return new ChatError('INTERNAL_ERROR', 'Internal server error');
    }
    if (!mayAnswer(operation, error.code))
      requestLog().error({ err: error, operation: operation.name }, 'undeclared error code');
    if (error.status < 500) return error;
    // In an outage or under overload thousands of requests fail alike, and logging each would add to the load.
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    const alike = outages(`${operation.name} ${cause}`);
    if (alike !== undefined) requestLog().warn({ err: error, alike, operation: operation.name }, 'request failed');
    return error;
  };
}

/** Number of suppressed lines of a kind since the last logged one; undefined if one was logged within a second. */
function onceASecond(): (kind: string) => number | undefined {
  const said = new LRUCache<string, { at: number; unsaid: number }>({ max: 1_000 });
  return (kind) => {
    const last = said.get(kind);
    if (last && performance.now() - last.at < 1_000) {
      last.unsaid++;
      return undefined;
    }
    said.set(kind, { at: performance.now(), unsaid: 0 });
    return last?.unsaid ?? 0;
  };
}
