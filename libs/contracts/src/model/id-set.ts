/**
 * A set of user ids in an audience. Dense sets are a bitmap with an offset (10,000 subscribers take about a kilobyte),
 * sparse ones a sorted list; `idSet` chooses the smaller.
 */
export type IdSet = { ids: number[] } | { offset: number; bits: string };

export function idSet(values: Iterable<number>): IdSet {
  const ids = ascending(values);
  const first = ids[0];
  const last = ids.at(-1);
  if (first === undefined || last === undefined) return { ids: [] };
  const bytes = Math.floor((last - first) / 8) + 1;
  if (bytes >= ids.length * 4) return { ids };
  const bits = new Uint8Array(bytes);
  for (const id of ids) {
    const at = id - first;
    bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  }
  return { offset: first, bits: Buffer.from(bits).toString('base64') };
}

/** The different values in ascending order. Values that are in this order already are not sorted: that takes long for thousands. */
function ascending(values: Iterable<number>): number[] {
  const ids = [...values];
  if (ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? id))) return ids;
  return ids.sort((a, b) => a - b).filter((id, at, all) => id !== all[at - 1]);
}

const decoded = new WeakMap<object, Set<number> | Uint8Array>();

export function hasId(set: IdSet, id: number): boolean {
  if ('ids' in set) {
    if (set.ids.length < 16) return set.ids.includes(id);
    return memberSet(set).has(id);
  }
  const at = id - set.offset;
  if (at < 0) return false;
  return ((bitmap(set)[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
}

export function idsOf(set: IdSet): number[] {
  if ('ids' in set) return set.ids;
  const ids: number[] = [];
  bitmap(set).forEach((byte, index) => {
    for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) ids.push(set.offset + index * 8 + bit);
  });
  return ids;
}

/** The set with these ids added. A dense set is copied, not encoded again, if they lie between its first and last id. */
export function withIds(set: IdSet, added: readonly number[]): IdSet {
  const end = 'ids' in set ? 0 : set.offset + 8 * bitmap(set).length;
  if ('ids' in set || added.some((id) => id < set.offset || id >= end)) return idSet([...idsOf(set), ...added]);
  const bits = Buffer.from(bitmap(set));
  for (const id of added) {
    const at = id - set.offset;
    bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  }
  return { offset: set.offset, bits: bits.toString('base64') };
}

/** The number of ids in the set. */
export const sizeOf = (set: IdSet): number => idsOf(set).length;

function memberSet(set: { ids: number[] }): Set<number> {
  const known = decoded.get(set);
  if (known instanceof Set) return known;
  const made = new Set(set.ids);
  decoded.set(set, made);
  return made;
}

function bitmap(set: { offset: number; bits: string }): Uint8Array {
  const known = decoded.get(set);
  if (known instanceof Uint8Array) return known;
  const made: Uint8Array = Buffer.from(set.bits, 'base64');
  decoded.set(set, made);
  return made;
}
