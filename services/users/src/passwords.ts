import { createHash, randomInt } from 'node:crypto';
import { badRequest } from '@natter/contracts';
import { hash, verify } from '@node-rs/argon2';

// argon2id is this library's default algorithm; 19 MiB and two passes.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const minLength = 6;
const maxLength = 100;

export async function hashPassword(password: string): Promise<string> {
  if (password.length < minLength) throw badRequest('The password is too weak.');
  if (password.length > maxLength) throw badRequest('The password is too long.');
  return hash(password, cost);
}

export const verifyPassword = (stored: string, password: string): Promise<boolean> =>
  verify(stored, password).catch(() => false);

/** Costs as much as a real verification, so that an unknown address takes as long as a wrong password. */
export async function verifyNothing(password: string): Promise<void> {
  await hash(password.slice(0, maxLength) || 'nothing', cost);
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export const createApiKey = (): string =>
  Array.from({ length: 32 }, () => alphabet[randomInt(alphabet.length)]).join('');
export const apiKeyId = (key: string): string => createHash('sha256').update(key).digest('hex');
