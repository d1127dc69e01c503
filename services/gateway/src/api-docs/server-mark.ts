import { pngOf } from '@natter/png';

/** The numbers below have the units of the mark, of which it has this many in each direction. */
const units = 64;
/** The colours: transparent, of the square, and of the letter. */
const colors = [
  [0, 0, 0, 0],
  [0x2b, 0x6c, 0xb0, 0xff],
  [0xff, 0xff, 0xff, 0xff],
] as const;
const radius = 14;
const [start, end, stroke] = [18, 46, 6];

/** The mark of the server as PNG, of so many pixels in each direction: the letter N on a rounded square. */
export function serverMark(pixels: number): Buffer {
  const at = Array.from({ length: pixels }, (_, pixel) => ((pixel + 0.5) * units) / pixels);
  return pngOf(
    colors,
    at.map((y) => at.map((x) => colorAt(x, y))),
  );
}

function colorAt(x: number, y: number): number {
  const [fromX, fromY] = [Math.max(radius - x, x - units + radius, 0), Math.max(radius - y, y - units + radius, 0)];
  if (Math.hypot(fromX, fromY) > radius) return 0;
  if (x < start || x > end || y < start || y > end) return 1;
  // Between its uprights, which are 16 apart, the diagonal descends by 18; it is 10 high.
  const below = y - start - ((x - start - stroke) * 18) / 16;
  return x < start + stroke || x > end - stroke || (below >= 0 && below <= 10) ? 2 : 1;
}
