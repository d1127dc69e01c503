import { badRequest, type ChatError, isStorable, type jwtAlgorithms } from '@natter/contracts';
import { errors, importSPKI, jwtVerify } from 'jose';

export type JwtAlgorithm = (typeof jwtAlgorithms)[number];

export const badToken = (): ChatError => badRequest('Bad JSON web token');

/** Tolerance for `exp` and `nbf`, because the clocks of the servers may differ. */
const toleranceSeconds = 5;
/** Least length of a secret: the length of the hash. RFC 7518 forbids shorter secrets. */
const secretBytes: Record<Exclude<JwtAlgorithm, 'RS256'>, number> = { HS256: 32, HS384: 48, HS512: 64 };

/** The key in the form that verifies tokens. Throws BAD_REQUEST if it does not fit the algorithm. */
export async function readJwtKey(algorithm: JwtAlgorithm, text: string): Promise<CryptoKey | Uint8Array> {
  if (algorithm !== 'RS256') {
    const secret = Buffer.from(text, 'utf8');
    // A public key as a secret would let everybody sign.
    if (text.includes('-----BEGIN')) throw badRequest(`${algorithm} needs a secret, not a key in PEM format`);
    if (secret.length < secretBytes[algorithm])
      throw badRequest(`The secret of ${algorithm} must have at least ${secretBytes[algorithm]} bytes`);
    return secret;
  }
  const key = await importSPKI(text, algorithm).catch(() => undefined);
  const { modulusLength = 0 } = (key?.algorithm ?? {}) as { modulusLength?: number };
  if (!key || modulusLength < 2_048)
    throw badRequest('RS256 needs a public RSA key of at least 2048 bits in PEM format');
  return key;
}

/**
 * The address in a token. Only the given algorithm is accepted, even if the token names another; `exp` and `nbf` are respected.
 * Throws BAD_REQUEST for any other token.
 */
export async function emailInJwt(token: string, algorithm: JwtAlgorithm, keyText: string): Promise<string> {
  const key = await readJwtKey(algorithm, keyText);
  const payload = await jwtVerify(token, key, { algorithms: [algorithm], clockTolerance: toleranceSeconds }).then(
    (verified) => verified.payload,
    (error: unknown) => {
      if (error instanceof errors.JOSEError) throw badToken();
      throw error;
    },
  );
  const { email } = payload;
  if (typeof email !== 'string' || email === '' || email.length > 1_000 || !isStorable(email))
    throw badRequest('No email specified in JSON web token claims');
  return email;
}
