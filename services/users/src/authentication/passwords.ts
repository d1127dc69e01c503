import { createHash, randomInt } from 'node:crypto';
import { badRequest, limits } from '@natter/contracts';
import { hash, verify } from '@node-rs/argon2';

// argon2id is this library's default algorithm; 19 MiB and two passes.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const { passwordMinLength, passwordMaxLength } = limits;
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

/** Long enough, and not what everybody tries first. */
export function checkPassword(password: string): void {
  const isOneLetter = new Set(password).size === 1;
  if ([...password].length < passwordMinLength || isOneLetter || commonest.has(password.toLowerCase()))
    throw badRequest('The password is too weak.');
  if ([...password].length > passwordMaxLength) throw badRequest('The password is too long.');
}

export async function hashPassword(password: string): Promise<string> {
  checkPassword(password);
  return hash(password, cost);
}

export const verifyPassword = (stored: string, password: string): Promise<boolean> =>
  verify(stored, password).catch(() => false);

/** Costs as much as a real verification, so that an unknown address takes as long as a wrong password. */
export async function verifyNothing(password: string): Promise<void> {
  await hash(password.slice(0, passwordMaxLength) || 'nothing', cost);
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export const createApiKey = (): string =>
  Array.from({ length: 32 }, () => alphabet[randomInt(alphabet.length)]).join('');
/** Of 64 bytes, two for each character. */
export const apiKeyOf = (bytes: Buffer): string =>
  Array.from({ length: 32 }, (_, index) => alphabet[bytes.readUInt16BE(index * 2) % alphabet.length]).join('');
export const apiKeyId = (key: string): string => createHash('sha256').update(key).digest('hex');
