import { expect, test } from 'vitest';
import { mediaTypeOf } from './media-type.ts';

const png = Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1');

const mp3 = (second: number, third = 0x90, fourth = 0) => Buffer.from([0xff, second, third, fourth, 0, 0, 0, 0, 0]);
/** Two frames of ten bytes. */
const aac = (second: number, { rate = 0x50, length = 10 } = {}): Buffer => {
  const frame = Buffer.from([0xff, second, rate, 0x80, length >> 3, ((length & 7) << 5) | 0x1f, 0xfc, 0, 0, 0]);
  return Buffer.concat([frame, frame, Buffer.alloc(10)]);
};

test.each([
  [png, 'image/png', 'image/png'],
  // The content decides between types of one kind.
  [png, 'image/jpeg; charset=x', 'image/png'],
  [Buffer.from('RIFF0000WEBPVP8 '), 'IMAGE/WEBP', 'image/webp'],
  [Buffer.from('0000ftypisom'), 'video/mp4', 'video/mp4'],
  [Buffer.from('0000ftypM4A '), 'audio/mp4', 'audio/mp4'],
  ...[0xfb, 0xfa, 0xf3, 0xf2, 0xe3].map((second): [Buffer, string, string] => [
    mp3(second),
    'audio/mpeg',
    'audio/mpeg',
  ]),
  [aac(0xf1), 'audio/aac', 'audio/aac'],
  [aac(0xf9), 'audio/mpeg', 'audio/aac'],
])('%o declared as %s is shown as %s', (content, stated, type) => expect(mediaTypeOf(content, stated)).toBe(type));

test.each([
  [png, 'text/html'],
  [png, 'video/mp4'],
  [png, ''],
  [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
  [Buffer.from('<html>'), 'image/png'],
  [Buffer.from('0000ftypisom'), 'image/png'],
  [Buffer.alloc(0), 'image/png'],
  [mp3(0xfb), 'image/png'],
  // Invalid headers: layers I and II, a reserved version, and a reserved bitrate, sampling rate and emphasis.
  ...[0xff, 0xfd, 0xeb].map((second): [Buffer, string] => [mp3(second), 'audio/mpeg']),
  [mp3(0xfb, 0xf0), 'audio/mpeg'],
  [mp3(0xfb, 0x00), 'audio/mpeg'],
  [mp3(0xfb, 0x9c), 'audio/mpeg'],
  [mp3(0xfb, 0x90, 2), 'audio/mpeg'],
  // With a reserved sampling rate, a frame without content, and a frame that no other one follows.
  [aac(0xf1, { rate: 0x74 }), 'audio/aac'],
  [aac(0xf1, { length: 7 }), 'audio/aac'],
  [aac(0xf1, { length: 15 }), 'audio/aac'],
  [Buffer.from('\xff\xfe<\0h\0t\0m\0l\0', 'latin1'), 'audio/mpeg'],
])('%o declared as %s is not shown', (content, stated) => expect(mediaTypeOf(content, stated)).toBeUndefined());
