import { expect, test } from 'vitest';
import { mediaTypeOf } from './media-type.ts';

const png = Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1');

test.each([
  [png, 'image/png', 'image/png'],
  // The content decides between types of one kind.
  [png, 'image/jpeg; charset=x', 'image/png'],
  [Buffer.from('RIFF0000WEBPVP8 '), 'IMAGE/WEBP', 'image/webp'],
  [Buffer.from('0000ftypisom'), 'video/mp4', 'video/mp4'],
  [Buffer.from('0000ftypM4A '), 'audio/mp4', 'audio/mp4'],
])('%o as %s is %s', (content, stated, type) => expect(mediaTypeOf(content, stated)).toBe(type));

test.each([
  [png, 'text/html'],
  [png, 'video/mp4'],
  [png, ''],
  [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
  [Buffer.from('<html>'), 'image/png'],
  [Buffer.from('0000ftypisom'), 'image/png'],
  [Buffer.alloc(0), 'image/png'],
])('%o as %s is nothing to show', (content, stated) => expect(mediaTypeOf(content, stated)).toBeUndefined());
