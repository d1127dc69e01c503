import type pg from 'pg';

/**
 * A transaction was committed, but its wait for a synchronous standby was cancelled: a failover may lose it. The code is that
 * of a connection that broke at COMMIT (`transaction_resolution_unknown`).
 */
export class UnknownOutcome extends Error {
  readonly code = '08007';

  constructor() {
    super('the commit was not confirmed by a standby');
    this.name = 'UnknownOutcome';
  }
}

/**
 * The `routine` field of the warning about a cancelled wait. It does not depend on the language of the server. COMMIT
 * succeeds despite the warning.
 */
const routine = 'SyncRepWaitForLSN';

/** Notices that the wait of a commit for a standby was cancelled on this connection. */
export function watchReplication(client: pg.PoolClient): { wasCancelled(): boolean; stop(): void } {
  let wasCancelled = false;
  const hear = (notice: { routine?: string | undefined }): void => {
    if (notice.routine === routine) wasCancelled = true;
  };
  client.on('notice', hear);
  return { wasCancelled: () => wasCancelled, stop: () => void client.off('notice', hear) };
}
