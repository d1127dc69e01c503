import { onePixel } from '../../one-pixel.ts';
import type { Random } from '../../random.ts';

const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

export interface HostileFile {
  name: string;
  type: string;
  bytes: Buffer;
}

export const validFile: HostileFile = { name: 'a.png', type: 'image/png', bytes: onePixel };

/** A PNG header that claims a size, without image data. */
function claimedPng(width: number, height: number): Buffer {
  const bytes = Buffer.from(onePixel);
  bytes.writeUInt32BE(width >>> 0, 16);
  bytes.writeUInt32BE(height >>> 0, 20);
  return bytes;
}

export function fileOf(random: Random): HostileFile {
  const name = random.pick([
    'a.png',
    'notes.txt',
    'a.gif',
    'x.svg',
    'a'.repeat(300),
    '../../x',
    'ünïcode.png',
    'a"b.txt',
    '.',
    '',
  ]);
  const type = random.pick([
    'image/png',
    'text/plain',
    'image/svg+xml',
    'text/html',
    'application/octet-stream',
    'x',
    '',
  ]);
  const bytes = random.pick<() => Buffer>([
    () => onePixel,
    () => onePixel,
    () => onePixel,
    () => gif,
    () => claimedPng(100_000, 100_000),
    () => claimedPng(0, 0),
    () => claimedPng(0xffffffff, 0xffffffff),
    () => onePixel.subarray(0, 20 + random.below(30)),
    () => Buffer.concat([gif, gif, gif]),
    () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
    () => Buffer.from('RIFF\u0010\u0000\u0000\u0000WEBPVP8 '),
    () => Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 74, 70, 73, 70, 0, 1, 0xff, 0xc0, 0, 2]),
    () => Buffer.alloc(0),
    () => Buffer.alloc(random.chance(0.05) ? 1_500_000 : 2_000, 0x61),
  ])();
  return { name, type, bytes };
}
