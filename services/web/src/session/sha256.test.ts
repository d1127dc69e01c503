import { createHash } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { sha256 } from './sha256.ts';

afterEach(() => vi.unstubAllGlobals());

test('a text is hashed as the server hashes it', async () => {
  vi.stubGlobal('isSecureContext', true);
  for (const text of ['', 'Grüße 😀\n', 'x'.repeat(10_000)])
    expect(await sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
});

test('without https there is no hash', async () => {
  vi.stubGlobal('isSecureContext', false);
  expect(await sha256('text')).toBeUndefined();
});
