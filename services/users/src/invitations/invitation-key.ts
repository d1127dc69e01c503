import { createHash, randomBytes } from 'node:crypto';

/** 40 letters and digits: 200 random bits. */
export function newInvitationKey(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz234567';
  return [...randomBytes(40)].map((byte) => letters[byte % 32]).join('');
}

/**
 * What the table keeps of a key: whoever reads the table cannot join with it. Keys of reusable links are sealed besides, because their
 * creators and administrators see the links again.
 */
export const storedKey = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
