import { createHash } from 'node:crypto';
import { pageOfBytes } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { readPage } from './page-pieces.ts';

const fields = { status: 200, content_type: 'image/png', cache_seconds: 5 };
/** Bytes without a pattern. */
const bytesOf = (size: number): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(size / 32) }, (_, i) => createHash('sha256').update(String(i)).digest()),
  ).subarray(0, size);

test.each([0, 1, 2, 3, 196_608, 196_609, 700_000])('a body of %d bytes is decoded in short pieces', async (size) => {
  const { pieces } = await pageOfBytes(fields, bytesOf(size));
  // The bus sends the first and the last byte of a piece apart from the others.
  const received = (pieces as Buffer[]).flatMap((piece) =>
    piece.length < 8_192 ? [piece] : [piece.subarray(0, 1), piece.subarray(1, -1), piece.subarray(-1)],
  );
  const { page, content } = readPage(received);
  expect(page).toEqual({ ...fields, is_base64: true, body: '' });
  const chunks = [...(content?.chunks() ?? [])];
  expect(Buffer.concat(chunks).equals(bytesOf(size))).toBe(true);
  expect(content?.size).toBe(size);
  expect(Math.max(0, ...chunks.map(({ length }) => length))).toBeLessThanOrEqual(192 * 1024 + 3);
});

test('a page in one piece, or with a base64 body, is read unchanged', () => {
  const page = { ...fields, body: Buffer.from('"}').toString('base64'), is_base64: true };
  expect(readPage([Buffer.from(JSON.stringify(page))])).toEqual({ page, content: undefined });
  const text = { ...fields, body: 'a "body":"', is_base64: false };
  const json = Buffer.from(JSON.stringify(text));
  expect(readPage([json.subarray(0, 20), json.subarray(20)])).toEqual({ page: text, content: undefined });
});
