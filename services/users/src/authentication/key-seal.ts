import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { apiKeyOf } from './passwords.ts';

/** Keeps keys of bots so that their owners can see them again, and whoever reads the tables alone cannot. */
export interface KeySeal {
  seal(key: string): string;
  /** Empty when it was sealed with another secret: the key still works, but has to be made anew to be seen. */
  open(sealed: string): string;
  /** An API key that follows from the text and the secret: given again to whoever asks the same again, and stored nowhere. */
  derive(text: string): string;
}

const nonceBytes = 12;
const tagBytes = 16;

export function createKeySeal(secret: string): KeySeal {
  const key = Buffer.from(hkdfSync('sha256', secret, 'natter', 'keys of bots', 32));
  const deriving = Buffer.from(hkdfSync('sha256', secret, 'natter', 'keys that follow from requests', 32));
  return {
    derive: (text) => apiKeyOf(createHmac('sha512', deriving).update(text).digest()),
    seal: (text) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    open: (sealed) => {
      const bytes = Buffer.from(sealed, 'base64');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
        decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
        return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        return '';
      }
    },
  };
}
