/** Removes the symbol table and the debug data from an ELF program, on any build machine and for any platform. */

/**
 * The part of a program that a kernel loads; it keeps the dynamic symbols, which native modules need. Sections outside
 * it are for debuggers alone, and stand at the end of the file.
 */
export function loadedPart(file: Buffer): Buffer {
  const isElf64 = file.length >= headerSize && file.readUInt32BE(0) === magic && file[4] === 2 && file[5] === 1;
  if (!isElf64) throw new Error('not a 64-bit little-endian ELF file');
  const [tableAt, entrySize, entries] = [
    Number(file.readBigUInt64LE(32)),
    file.readUInt16LE(54),
    file.readUInt16LE(56),
  ];
  let end = tableAt + entrySize * entries;
  for (let index = 0; index < entries; index++) {
    const at = tableAt + entrySize * index;
    const [offset, size] = [Number(file.readBigUInt64LE(at + 8)), Number(file.readBigUInt64LE(at + 32))];
    end = Math.max(end, offset + size);
  }
  if (end > file.length) throw new Error('the ELF file is cut off');
  const loaded = Buffer.from(file.subarray(0, end));
  // No section headers: their offset, number and index of names.
  loaded.writeBigUInt64LE(0n, 40);
  loaded.fill(0, 58, headerSize);
  return loaded;
}

const magic = 0x7f454c46;
const headerSize = 64;
