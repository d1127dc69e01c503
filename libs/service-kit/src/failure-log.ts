import { badRequest, ChatError, type Operation, unavailable } from '@natter/contracts';
import { isServerTrouble, sqlState } from '@natter/database';
import type { Logger } from './logging.ts';

/** Writes why a request failed to the log where that is the server's doing, and gives what the caller is told. */
export function createFailureLog(): (error: unknown, operation: Operation, requestLog: () => Logger) => ChatError {
  const outages = onceASecond();
  return (thrown, operation, requestLog) => {
    const error = !(thrown instanceof ChatError) && isServerTrouble(thrown) ? unavailable(thrown) : thrown;
    // No column holds the number, so there is nothing that it could name.
    if (sqlState(error) === '22003') {
      requestLog().info({ err: error }, 'number out of range');
      return badRequest('A number is out of range');
    }
    // An index entry holds about 2,700 bytes, fewer than some texts of the contract have.
    if (sqlState(error) === '54000') {
      requestLog().info({ err: error }, 'value too long for an index');
      return badRequest('A value is too long');
    }
    if (!(error instanceof ChatError)) {
      requestLog().error({ err: error }, 'request failed');
      return new ChatError('INTERNAL_ERROR', 'Internal server error');
    }
    if (error.status < 500) return error;
    // In an outage or under too much load thousands fail alike, and telling of each would be the larger load.
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    const alike = outages(`${operation.name} ${cause}`);
    if (alike !== undefined) requestLog().warn({ err: error, alike, operation: operation.name }, 'request failed');
    return error;
  };
}

/** How many of a kind went unsaid since the last that was said; undefined when one was said within a second. */
function onceASecond(): (kind: string) => number | undefined {
  const said = new Map<string, { at: number; unsaid: number }>();
  return (kind) => {
    const last = said.get(kind);
    if (last && Date.now() - last.at < 1_000) {
      last.unsaid++;
      return undefined;
    }
    if (said.size > 1_000) said.clear();
    said.set(kind, { at: Date.now(), unsaid: 0 });
    return last?.unsaid ?? 0;
  };
}
