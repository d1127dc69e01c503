import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts keys of bots and of reusable links, so that they can be shown again, but not read from the tables alone. */
export interface KeySeal {
  seal(key: string): string;
  /**
   * Empty if it was sealed with a secret that is neither the current nor the previous one: the key still works, but can
   * only be replaced, not shown.
   */
  open(sealed: string): string;
  /** The same key sealed with the current secret; undefined if it already is, or cannot be opened. */
  renew(sealed: string): string | undefined;
  /** Whether a previous secret is configured. */
  readonly hasPrevious: boolean;
  /**
   * Fingerprints a request that may contain a password; without the secret the password cannot be guessed from it. The
   * second one is made with the previous secret.
   */
  fingerprint(request: string): readonly [string, ...string[]];
}

const nonceBytes = 12;
const tagBytes = 16;

export function createKeySeal(secret: string, previousSecret?: string): KeySeal {
  const current = sealingKey(secret);
  const previous = previousSecret && previousSecret !== secret ? sealingKey(previousSecret) : undefined;
  const naming = namingKey(secret);
  const formerly = previous && previousSecret ? [namingKey(previousSecret)] : [];
  const seal = (text: string): string => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', current, nonce);
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
  };
  const openPrevious = (sealed: string): string => (previous ? openWith(previous, sealed) : '');
  return {
    seal,
    open: (sealed) => openWith(current, sealed) || openPrevious(sealed),
    renew: (sealed) => {
      if (openWith(current, sealed) !== '') return undefined;
      const key = openPrevious(sealed);
      return key === '' ? undefined : seal(key);
    },
    hasPrevious: previous !== undefined,
    fingerprint: (request) => [
      fingerprintWith(naming, request),
      ...formerly.map((key) => fingerprintWith(key, request)),
    ],
  };
}

const sealingKey = (secret: string): Buffer => Buffer.from(hkdfSync('sha256', secret, 'natter', 'keys of bots', 32));

const namingKey = (secret: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'natter', 'fingerprints of requests', 32));

const fingerprintWith = (key: Buffer, request: string): string =>
  createHmac('sha256', key).update(request).digest('base64url');

function openWith(key: Buffer, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return '';
  }
}
