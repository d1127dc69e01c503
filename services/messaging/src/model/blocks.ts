/** Ids in a row of bits: of messages that a user read, or of users. */
export const blockSize = 4096;

interface Block {
  block: number;
  /** A digit for each id, 0 or 1. */
  bits: string;
}

/** The ids as bits, in ascending order, which is the order of locks. */
export function blocksOf(ids: readonly number[]): Block[] {
  const blocks = new Map<number, Uint8Array>();
  for (const id of ids) {
    const block = Math.floor(id / blockSize);
    const bits = blocks.get(block) ?? new Uint8Array(blockSize).fill(48);
    bits[id % blockSize] = 49;
    blocks.set(block, bits);
  }
  return [...blocks]
    .sort(([a], [b]) => a - b)
    .map(([block, bits]) => ({ block, bits: Buffer.from(bits).toString('latin1') }));
}
