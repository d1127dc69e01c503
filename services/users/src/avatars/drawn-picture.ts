import { createHash } from 'node:crypto';
import { pngOf } from '@natter/png';

const cells = 5;
/** Width in cells, with an empty cell on each side. */
const width = cells + 2;

/**
 * A PNG image derived from the text alone, so that it does not reveal whether such a user exists. Mobile clients decode
 * no SVG. `size`: in pixels.
 */
export function drawnPicture(seed: string, size: number): Buffer {
  const bytes = createHash('sha256').update(seed.toLowerCase()).digest();
  const hue = Math.round(((bytes[0] ?? 0) * 360) / 256);
  const colorAt = (x: number, y: number): number => {
    if (x < 0 || y < 0 || x >= cells || y >= cells) return 0;
    // The left half, mirrored.
    const column = Math.min(x, cells - 1 - x);
    return (bytes[1 + y * 3 + column] ?? 0) & 1;
  };
  const cellOf = Array.from({ length: size }, (_, pixel) => Math.floor(((pixel + 0.5) * width) / size));
  const rows = Array.from({ length: width }, (_, y) => cellOf.map((x) => colorAt(x - 1, y - 1)));
  return pngOf(
    [colorOf(hue, 0.6, 0.92), colorOf(hue, 0.55, 0.45)],
    cellOf.map((y) => rows[y] ?? []),
  );
}

/** The colour that CSS calls `hsl`; `hue` in degrees, the others up to 1. */
function colorOf(hue: number, saturation: number, lightness: number) {
  const range = saturation * Math.min(lightness, 1 - lightness);
  const part = (turn: number): number => {
    const at = (turn + hue / 30) % 12;
    return Math.round(255 * (lightness - range * Math.max(-1, Math.min(at - 3, 9 - at, 1))));
  };
  return [part(0), part(8), part(4), 255] as const;
}
