import type { Executor } from '@natter/database';
import type { Viewer } from './account-row.ts';

export interface SnapshotRequest {
  realmId: number;
  /** Absent for spectators. */
  userId: number | undefined;
  /** Like `userId`, with the role at that point in time. */
  viewer: Viewer;
  capabilities: Record<string, boolean>;
  clientGravatar: boolean;
}

/**
 * The section of a register for some fetch types. It reads in the register's snapshot, from this service's tables only.
 */
export interface SnapshotPart {
  types: readonly string[];
  read(executor: Executor, request: SnapshotRequest): Promise<Record<string, unknown>>;
}
