import { createHash, randomInt } from 'node:crypto';
import { badRequest, limits } from '@natter/contracts';
import { hash, verify } from '@node-rs/argon2';
import { createHashTurns, type Hasher } from './hash-turns.ts';

// argon2id is this library's default algorithm; 19 MiB and two passes.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const { passwordMinLength, passwordMaxLength } = limits;
/** 19 MiB each; the thread pool has two more threads for other work. */
const inTurn = createHashTurns(2, 128);
const commonest = new Set([
  '123456',
  'password',
  '12345678',
  'qwerty',
  'abc123',
  '111111',
  '123123',
  '654321',
  'iloveyou',
]);

/** Checks the length, and refuses the most common passwords. */
export function checkPassword(password: string): void {
  const isOneLetter = new Set(password).size === 1;
  if ([...password].length < passwordMinLength || isOneLetter || commonest.has(password.toLowerCase()))
    throw badRequest('The password is too weak.');
  if ([...password].length > passwordMaxLength) throw badRequest('The password is too long.');
}

export async function hashPassword(password: string, by: Hasher): Promise<string> {
  checkPassword(password);
  return inTurn(by, () => hash(password, cost));
}

/**
 * Whether the password is correct. An unknown account or one without a password takes as long as a wrong password, and
 * a password above the maximum length is not hashed in full.
 */
export async function verifyPassword(
  stored: string | null | undefined,
  password: string,
  by: Hasher,
): Promise<boolean> {
  const isPossible = password.length <= 2 * passwordMaxLength;
  if (stored && isPossible) return inTurn(by, () => verify(stored, password).catch(() => false));
  await inTurn(by, () => hash('nothing', cost));
  return false;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export const createApiKey = (): string =>
  Array.from({ length: 32 }, () => alphabet[randomInt(alphabet.length)]).join('');
export const apiKeyId = (key: string): string => createHash('sha256').update(key).digest('hex');
/** Whether it has the form of `apiKeyId`. */
export const isApiKeyId = (id: unknown): id is string => typeof id === 'string' && /^[0-9a-f]{64}$/.test(id);
