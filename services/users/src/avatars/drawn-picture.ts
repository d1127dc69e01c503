import { createHash } from 'node:crypto';
import type { Page } from '@natter/contracts';

const cells = 5;

/** An image derived from the text alone, so that it does not reveal whether such a user exists. */
export function drawnPicture(seed: string, size: number): Page {
  const bytes = createHash('sha256').update(seed.toLowerCase()).digest();
  const hue = ((bytes[0] ?? 0) * 360) / 256;
  const squares: string[] = [];
  for (let y = 0; y < cells; y++)
    for (let x = 0; x < cells; x++) {
      // The left half, mirrored.
      const column = Math.min(x, cells - 1 - x);
      if ((bytes[1 + y * 3 + column] ?? 0) & 1) squares.push(`<rect x="${x + 1}" y="${y + 1}" width="1" height="1"/>`);
    }
  return {
    status: 200,
    content_type: 'image/svg+xml',
    body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${cells + 2} ${cells + 2}" width="${size}" height="${size}"><rect width="${cells + 2}" height="${cells + 2}" fill="hsl(${hue.toFixed(0)} 60% 92%)"/><g fill="hsl(${hue.toFixed(0)} 55% 45%)">${squares.join('')}</g></svg>`,
    is_base64: false,
    cache_seconds: 86_400,
  };
}
