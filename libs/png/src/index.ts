import { crc32, deflateSync } from 'node:zlib';

/** Red, green, blue and opacity, each up to 255. */
type Color = readonly [number, number, number, number];

/** Bits per pixel; they allow four colours. */
const bits = 2;
const pixelsPerByte = 8 / bits;

/**
 * A picture of few colours as PNG. The rows have the same length, and contain the index of the colour of each pixel. An array
 * that is several rows is read once.
 */
export function pngOf(colors: readonly Color[], rows: readonly (readonly number[])[]): Buffer {
  const packed = new Map<readonly number[], Buffer>();
  for (const row of rows) if (!packed.has(row)) packed.set(row, packedRow(row));
  const pixels = Buffer.concat(rows.flatMap((row) => packed.get(row) ?? []));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(rows[0]?.length ?? 0, 0);
  header.writeUInt32BE(rows.length, 4);
  // The second number: a pixel is the index of a colour.
  header.set([bits, 3], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(colors.flatMap((color) => color.slice(0, 3)))),
    chunk('tRNS', Buffer.from(colors.map(([, , , opacity]) => opacity))),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A row begins with its filter: none. */
function packedRow(row: readonly number[]): Buffer {
  const bytes = Buffer.alloc(1 + Math.ceil(row.length / pixelsPerByte));
  for (const [x, color] of row.entries()) {
    const at = 1 + Math.floor(x / pixelsPerByte);
    bytes[at] = (bytes[at] ?? 0) | (color << (8 - bits * ((x % pixelsPerByte) + 1)));
  }
  return bytes;
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
