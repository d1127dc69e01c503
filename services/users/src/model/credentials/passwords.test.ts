import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { apiKeyId, createApiKey, hashPassword, isApiKeyId, verifyPassword } from './passwords.ts';

const by = { meta: { realmId: 1 } };

test('a password is stored as argon2id with 19 MiB and two passes, and each hash has a salt of its own', async () => {
  const hashes = await Promise.all([1, 2].map(() => hashPassword('a long password', by)));
  for (const hash of hashes) {
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verifyPassword(hash, 'a long password', by)).toBe(true);
    expect(await verifyPassword(hash, 'a long Password', by)).toBe(false);
  }
  expect(hashes[0]).not.toBe(hashes[1]);
  expect(await verifyPassword(null, 'a long password', by)).toBe(false);
});

test('an API key has 190 random bits, and is stored as SHA-256', () => {
  const keys = Array.from({ length: 1_000 }, createApiKey);
  for (const key of keys) expect(key).toMatch(/^[A-Za-z0-9]{32}$/);
  expect(Math.floor(32 * Math.log2(62))).toBe(190);
  expect(new Set(keys).size).toBe(keys.length);
  expect(new Set(keys.join('')).size).toBe(62);
  const [key = ''] = keys;
  expect(apiKeyId(key)).toBe(createHash('sha256').update(key).digest('hex'));
});

test('only a digest in lower case is the id of a key', () => {
  expect(isApiKeyId('0a'.repeat(32))).toBe(true);
  for (const other of [
    '',
    '0A'.repeat(32),
    '0a'.repeat(31),
    `${'0a'.repeat(32)}\n`,
    null,
    undefined,
    ['0a'.repeat(32)],
  ])
    expect(isApiKeyId(other)).toBe(false);
});
