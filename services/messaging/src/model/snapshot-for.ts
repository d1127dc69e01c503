export interface SnapshotFor {
  realmId: number;
  userId: number;
  capabilities: Record<string, boolean>;
}
