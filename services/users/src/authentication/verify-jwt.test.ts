import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { ChatError } from '@natter/contracts';
import { expect, test } from 'vitest';
import { emailInJwt, type JwtAlgorithm, readJwtKey } from './verify-jwt.ts';

const secret = 's'.repeat(64);
const [pair, weak] = [2_048, 1_024].map((modulusLength) =>
  generateKeyPairSync('rsa', {
    modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }),
) as [{ publicKey: string; privateKey: string }, { publicKey: string; privateKey: string }];

const encoded = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const now = Math.floor(Date.now() / 1000);
const ada = { email: 'ada@example.com' };

const signers: Record<string, (text: string) => string> = {
  HS256: (text) => createHmac('sha256', secret).update(text).digest('base64url'),
  HS384: (text) => createHmac('sha384', secret).update(text).digest('base64url'),
  HS512: (text) => createHmac('sha512', secret).update(text).digest('base64url'),
  RS256: (text) => sign('sha256', Buffer.from(text), pair.privateKey).toString('base64url'),
  none: () => '',
};

function token(alg: string, payload: unknown = ada, header: object = {}, by = signers[alg]): string {
  const text = `${encoded({ alg, ...header })}.${encoded(payload)}`;
  return `${text}.${by?.(text) ?? ''}`;
}

const keyOf = (algorithm: JwtAlgorithm): string => (algorithm === 'RS256' ? pair.publicKey : secret);
const outcome = (algorithm: JwtAlgorithm, text: string): Promise<string> =>
  emailInJwt(text, algorithm, keyOf(algorithm)).catch((error: unknown) => {
    if (error instanceof ChatError) return error.message;
    throw error;
  });
const bad = 'Bad JSON web token';

test.each(['HS256', 'HS384', 'HS512', 'RS256'] as const)('%s accepts only its own tokens', async (own) => {
  expect(await outcome(own, token(own))).toBe('ada@example.com');
  for (const other of ['HS256', 'HS384', 'HS512', 'RS256', 'none'])
    if (other !== own) expect([other, await outcome(own, token(other))]).toEqual([other, bad]);
  // The header names the right algorithm, and the signature is of another one.
  for (const other of ['HS256', 'HS384', 'HS512', 'RS256', 'none'])
    if (other !== own) expect(await outcome(own, token(own, ada, {}, signers[other]))).toBe(bad);
});

test('a public key is not accepted as a secret, and a token cannot choose its key', async () => {
  const byPublicKey = (text: string) => createHmac('sha256', pair.publicKey).update(text).digest('base64url');
  expect(await outcome('RS256', token('HS256', ada, {}, byPublicKey))).toBe(bad);
  expect(await outcome('RS256', token('RS256', ada, {}, byPublicKey))).toBe(bad);
  const otherKey = (text: string) => createHmac('sha256', 'x'.repeat(64)).update(text).digest('base64url');
  for (const header of [
    { jwk: { kty: 'oct', k: Buffer.from('x'.repeat(64)).toString('base64url') } },
    { jku: 'http://127.0.0.1:1/keys' },
    { x5u: 'http://127.0.0.1:1/key' },
    { kid: '../../dev/null' },
  ])
    expect(await outcome('HS256', token('HS256', ada, header, otherKey))).toBe(bad);
});

test('a token is valid only in its time and without unknown critical extensions', async () => {
  const at = (claims: object) => outcome('HS256', token('HS256', { ...ada, ...claims }));
  expect(await at({ exp: now + 600, nbf: now - 600, iat: now })).toBe('ada@example.com');
  expect(await at({ exp: now - 600 })).toBe(bad);
  expect(await at({ nbf: now + 600 })).toBe(bad);
  for (const exp of ['soon', String(now + 600), null, {}, [now + 600]]) expect(await at({ exp })).toBe(bad);
  expect(await outcome('HS256', token('HS256', ada, { crit: ['x'], x: 1 }))).toBe(bad);
  expect(await outcome('HS256', token('HS256', ada, { crit: ['b64'], b64: false }))).toBe(bad);
});

test('an invalid token, or one without an address, is rejected', async () => {
  const right = token('HS256');
  const [head = '', body = '', mac = ''] = right.split('.');
  for (const text of [
    '',
    '.',
    '..',
    '...',
    'a.b.c',
    `${head}.${body}`,
    `${head}.${body}.`,
    `${right}.x`,
    `${right}x`,
    ` ${right}`,
    `${head}.${encoded({ email: 'eve@example.com' })}.${mac}`,
    `${encoded({ alg: 'none' })}.${body}.`,
    `${encoded({})}.${body}.${mac}`,
    `${encoded(null)}.${body}.${mac}`,
    `${head}.${body}.${mac.slice(0, -2)}`,
    '\0',
    'é.é.é',
  ])
    expect([text, await outcome('HS256', text)]).toEqual([text, bad]);
  for (const payload of [null, [], 'x', 1]) expect(await outcome('HS256', token('HS256', payload))).toBe(bad);
  for (const email of [undefined, null, '', 1, {}, ['ada@example.com'], 'a\0b', 'a'.repeat(1_001)])
    expect(await outcome('HS256', token('HS256', { email }))).toBe('No email specified in JSON web token claims');
});

test('weak keys and keys of another kind are rejected', async () => {
  const refused = (algorithm: JwtAlgorithm, key: string) =>
    expect(readJwtKey(algorithm, key)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  await refused('HS256', 's'.repeat(31));
  await refused('HS384', 's'.repeat(47));
  await refused('HS512', 's'.repeat(63));
  await refused('HS256', pair.publicKey);
  for (const key of ['', secret, weak.publicKey, pair.privateKey]) await refused('RS256', key);
});
