/** Groups items with the same key, in the order in which the keys first occur. */
export function grouped<T>(items: Iterable<T>, keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}

/** Divides items, in their order, into portions that weigh at most `most` together. A heavier item is a portion of its own. */
export function portions<T>(items: readonly T[], most: number, weigh: (item: T) => number): T[][] {
  const divided: T[][] = [];
  let left = 0;
  for (const item of items) {
    const weight = weigh(item);
    const last = divided.at(-1);
    if (last && weight <= left) last.push(item);
    else {
      divided.push([item]);
      left = most;
    }
    left -= weight;
  }
  return divided;
}
