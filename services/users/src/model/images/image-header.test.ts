import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ImageType, imageSize, imageTypeOf } from './image-header.ts';

const u16 = (n: number): number[] => [n & 255, n >> 8];
const be32 = (n: number): number[] => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255];
const text = (s: string): number[] => [...Buffer.from(s, 'latin1')];
const chunk = (name: string, data: number[]): number[] => [...be32(data.length), ...text(name), ...data, 0, 0, 0, 0];

const pngOf = (width: number, height: number, ...rest: number[]): Buffer =>
  Buffer.from([
    ...text('\x89PNG\r\n\x1a\n'),
    ...chunk('IHDR', [...be32(width), ...be32(height), 8, 6, 0, 0, 0]),
    ...rest,
  ]);
const gifFrame = [0x2c, 0, 0, 0, 0, ...u16(1), ...u16(1), 0, 2, 1, 0, 0];
const gifOf = (width: number, height: number, frames: number): Buffer =>
  Buffer.from([
    ...text('GIF89a'),
    ...[...u16(width), ...u16(height), 0x80, 0, 0, 1, 1, 1, 2, 2, 2],
    ...[0x21, 0xf9, 4, 0, 0, 0, 0, 0],
    ...Array.from({ length: frames }, () => gifFrame).flat(),
    0x3b,
  ]);
const jpegOf = (width: number, height: number): Buffer =>
  Buffer.from([
    ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc0, 0, 11, 8],
    ...[height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0],
  ]);
const webpOf = (name: string, data: number[]): Buffer =>
  Buffer.from([...text('RIFF'), 0, 0, 0, 0, ...text('WEBP'), ...text(name), ...u16(data.length), 0, 0, ...data]);

const frame = [...text('ANMF'), 2, 0, 0, 0, 9, 9];
test.each<[string, Buffer, ImageType, number[]]>([
  ['a PNG', pngOf(50_000, 40_000), 'image/png', [50_000, 40_000, 1]],
  ['an animated PNG', pngOf(9, 8, ...chunk('acTL', [...be32(700), ...be32(0)])), 'image/png', [9, 8, 700]],
  ['a GIF of many frames', gifOf(300, 200, 1_000), 'image/gif', [300, 200, 1_000]],
  ['a JPEG', jpegOf(640, 480), 'image/jpeg', [640, 480, 1]],
  ['a lossy WebP', webpOf('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, ...u16(320), ...u16(240)]), 'image/webp', [320, 240, 1]],
  ['a lossless WebP', webpOf('VP8L', [0x2f, 0xff, 0xff, 0xff, 0x0f, 0]), 'image/webp', [16_384, 16_384, 1]],
  [
    'an animated WebP',
    Buffer.concat([webpOf('VP8X', [2, 0, 0, 0, 99, 0, 0, 49, 0, 0]), Buffer.from([...frame, ...frame, ...frame])]),
    'image/webp',
    [100, 50, 3],
  ],
])('the size of %s is read from its headers', (_, bytes, type, [width, height, frames]) => {
  expect(imageTypeOf(bytes)).toBe(type);
  expect(imageSize(bytes, type)).toEqual({ width, height, frames });
});

test.each<[string, Buffer, ImageType]>([
  ['a PNG that ends in its header', pngOf(9, 9).subarray(0, 20), 'image/png'],
  ['a PNG without size', pngOf(0, 9), 'image/png'],
  ['a GIF without frames', gifOf(9, 9, 0), 'image/gif'],
  ['a GIF with a block of no kind', Buffer.concat([gifOf(9, 9, 0).subarray(0, -1), Buffer.from([1, 2])]), 'image/gif'],
  ['a JPEG without a frame', Buffer.from([0xff, 0xd8, 0xff, 0xd9]), 'image/jpeg'],
  ['a WebP of no kind', webpOf('ICCP', [1, 2, 3, 4]), 'image/webp'],
])('%s has no readable size', (_, bytes, type) => {
  expect(imageSize(bytes, type)).toBeUndefined();
});

test('damaged headers end the reading and never throw', () => {
  const valid = [pngOf(9, 9, ...chunk('acTL', be32(1))), gifOf(9, 9, 3), jpegOf(9, 9), webpOf('VP8X', [1, 2, 3, 4])];
  const damaged = fc.tuple(fc.constantFrom(...valid), fc.array(fc.tuple(fc.nat(60), fc.nat(255))), fc.nat(80));
  fc.assert(
    fc.property(damaged, ([bytes, changes, length]) => {
      const copy = Buffer.from(bytes.subarray(0, length));
      for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
      for (const type of ['image/png', 'image/gif', 'image/jpeg', 'image/webp'] as const) imageSize(copy, type);
    }),
  );
});
