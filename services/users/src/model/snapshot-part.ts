import type { Executor } from '@natter/database';
import type { Viewer } from './account-row.ts';

type Section = Record<string, unknown>;

export interface SnapshotRequest {
  realmId: number;
  capabilities: Record<string, boolean>;
  clientGravatar: boolean;
}

interface UserSnapshotRequest extends SnapshotRequest {
  /** The user, with the role at that point in time. */
  viewer: NonNullable<Viewer>;
}

type ReadForAll = (executor: Executor, request: SnapshotRequest) => Promise<Section>;

/**
 * The section of a register for some fetch types. It is read in the register's snapshot, from this service's tables only.
 */
export interface SnapshotPart {
  types: readonly string[];
  /** Reads the section of a user's register. */
  read(executor: Executor, request: UserSnapshotRequest): Promise<Section>;
  spectators: Section | ReadForAll;
}

/** A section that spectators and users read alike. */
export const publicPart = (types: readonly string[], read: ReadForAll): SnapshotPart => ({
  types,
  read,
  spectators: read,
});
