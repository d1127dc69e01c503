import type { Executor } from '@natter/database';

export interface SnapshotRequest {
  realmId: number;
  /** Absent for spectators. */
  userId: number | undefined;
  realmUrl: string;
  capabilities: Record<string, boolean>;
  clientGravatar: boolean;
}

/** What a register answers for some fetch types. It reads in the register's snapshot, and this service's tables only. */
export interface SnapshotPart {
  types: readonly string[];
  read(executor: Executor, request: SnapshotRequest): Promise<Record<string, unknown>>;
}
