import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { drawnPicture } from './drawn-picture.ts';

/** The data of the chunks of a PNG, by their names. */
function chunksOf(png: Buffer): Record<string, Buffer> {
  const chunks: Record<string, Buffer> = {};
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    chunks[png.toString('latin1', at + 4, at + 8)] = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
  return chunks;
}

test.each([100, 500])('the drawing of a user is the same in each size and release: %i pixels', (size) => {
  const { IHDR, PLTE, IDAT } = chunksOf(drawnPicture('1 12', size));
  expect([IHDR?.readUInt32BE(0), IHDR?.readUInt32BE(4)]).toEqual([size, size]);
  // hsl(270 60% 92%) and hsl(270 55% 45%)
  expect(PLTE?.toString('hex')).toBe('ebdef77334b2');
  const pixels = inflateSync(IDAT ?? Buffer.alloc(0));
  // Four pixels in a byte, after the byte of the filter of their row.
  const rowBytes = 1 + size / 4;
  const middles = [0, 1, 2, 3, 4, 5, 6].map((cell) => Math.floor(((cell + 0.5) * size) / 7));
  const pixel = (x: number, y: number): number =>
    ((pixels[y * rowBytes + 1 + Math.floor(x / 4)] ?? 0) >> (6 - 2 * (x % 4))) & 3;
  expect(middles.map((y) => middles.map((x) => (pixel(x, y) === 1 ? '#' : '.')).join(''))).toEqual([
    ...['.......', '.#####.', '...#...', '...#...', '.......', '.#####.', '.......'],
  ]);
});
