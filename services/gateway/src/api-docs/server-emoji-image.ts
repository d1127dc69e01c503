import { crc32, deflateSync } from 'node:zlib';

const size = 64;
const [background, foreground] = [
  [0x2f, 0x6f, 0xa8, 0xff],
  [0xff, 0xff, 0xff, 0xff],
];
const radius = 14;
/** Half the width of the strokes of the letter. */
const stroke = 4.5;

/** The server's own emoji as PNG: the letter N on a rounded square. */
export function serverEmojiImage(): Buffer {
  const rows = Array.from({ length: size }, (_, y) => [
    0,
    ...Array.from({ length: size }, (_, x) => pixel(x + 0.5, y + 0.5)).flat(),
  ]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // 8 bits each of red, green, blue and opacity.
  header.set([8, 6], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function pixel(x: number, y: number): number[] {
  const [fromX, fromY] = [Math.max(radius - x, x - size + radius, 0), Math.max(radius - y, y - size + radius, 0)];
  if (Math.hypot(fromX, fromY) > radius) return [0, 0, 0, 0];
  const isInLetter = y > 14 && y < 50 && [20, 44, 20 + ((y - 14) * 24) / 36].some((at) => Math.abs(x - at) < stroke);
  return (isInLetter ? foreground : background) ?? [];
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
