import { pageSchema } from '@natter/contracts';
import { expect, test } from 'vitest';
import { pageOfBytes } from './page-of-bytes.ts';

test.each([0, 1, 2, 3, 192 * 1024, 192 * 1024 + 1, 1_000_000])('a page of %d bytes is one JSON text', async (size) => {
  const content = Buffer.from(Array.from({ length: size }, (_, i) => i % 251));
  const { pieces } = await pageOfBytes({ status: 200, content_type: 'image/png', cache_seconds: 5 }, content);
  const page = pageSchema.parse(JSON.parse(Buffer.concat(pieces as Buffer[]).toString()));
  expect(page).toMatchObject({ status: 200, content_type: 'image/png', cache_seconds: 5, is_base64: true });
  expect(Buffer.from(page.body, 'base64').equals(content)).toBe(true);
  expect(Math.max(...(pieces as Buffer[]).map(({ length }) => length))).toBeLessThanOrEqual(256 * 1024);
});
