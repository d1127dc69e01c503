import { createHash, randomBytes } from 'node:crypto';

/** 40 letters and digits: 200 random bits. */
export function newInvitationKey(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz234567';
  return [...randomBytes(40)].map((byte) => letters[byte % 32]).join('');
}

/**
 * The stored form of a key: it cannot be used to join. Keys of reusable links are also sealed, because their creators
 * and administrators can see the links again.
 */
export const storedKey = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
