/** The group and the caller to whom memory is counted. */
export interface Sender {
  /** An organization, or everybody without an account. */
  group: string;
  /** A user or a network. */
  caller: string;
}

/** Counts the memory of items by group and by caller. A group may hold half of what other groups leave. */
export function createMemoryShares<Item extends { bytes: number }>(totalBytes: number) {
  const byCaller = new Map<string, number>();
  const groups = new Map<string, { bytes: number; items: Set<Item> }>();
  let heldBytes = 0;

  const ofCaller = (caller: string): number => byCaller.get(caller) ?? 0;
  const ofGroup = (group: string): number => groups.get(group)?.bytes ?? 0;

  function largestGroup(): string {
    let largest = '';
    for (const [group, { bytes }] of groups) if (bytes > ofGroup(largest)) largest = group;
    return largest;
  }

  /** Negative if the group has no room for the bytes. */
  function roomFor(group: string, bytes: number): number {
    return (totalBytes - (heldBytes - ofGroup(group))) / 2 - ofGroup(group) - bytes;
  }

  return {
    get heldBytes() {
      return heldBytes;
    },
    ofCaller,
    roomFor,
    itemsOf: (group: string): readonly Item[] => [...(groups.get(group)?.items ?? [])],
    /** Adds bytes to an item; a negative number frees memory. An item without bytes is forgotten. */
    add({ group, caller }: Sender, item: Item, bytes: number): void {
      const known = groups.get(group) ?? { bytes: 0, items: new Set() };
      groups.set(group, known);
      known.bytes += bytes;
      item.bytes += bytes;
      heldBytes += bytes;
      if (item.bytes > 0) known.items.add(item);
      else known.items.delete(item);
      if (known.items.size === 0) groups.delete(group);
      const now = ofCaller(caller) + bytes;
      if (now > 0) byCaller.set(caller, now);
      else byCaller.delete(caller);
    },
    /** The group whose items are cut so that another one has room for the bytes, and how much to free; none if it has. */
    toCut(group: string, bytes: number): { group: string; isOwn: boolean; neededBytes: number } | undefined {
      const room = roomFor(group, bytes);
      if (room >= 0) return undefined;
      const largest = largestGroup();
      const isSmall = 2 * (ofGroup(group) + bytes) <= ofGroup(largest);
      // A group may use half of the free memory, so cutting must free twice the missing amount.
      return isSmall
        ? { group: largest, isOwn: false, neededBytes: -2 * room }
        : { group, isOwn: true, neededBytes: -room };
    },
  };
}
