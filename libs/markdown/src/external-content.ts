import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RenderContext } from './context.ts';
import { isOwnPage } from './url.ts';

/** Paths of this server that stand for addresses of other sites. A signature proves that this server wrote the path. */
const PREFIX = '/external_content/';
/** Length of a signature in hex digits. */
const SIGNATURE_LENGTH = 40;
/** Maximum bytes of an address. The path has twice as many characters, and must fit into the head of a request. */
const MAX_ADDRESS_LENGTH = 2_000;

const signatureOf = (address: string, key: string): string =>
  createHmac('sha256', key).update(address).digest('hex').slice(0, SIGNATURE_LENGTH);

/** Undefined for an address that is too long. */
function externalContentPath(address: string, key: string): string | undefined {
  const bytes = Buffer.from(address);
  if (bytes.length > MAX_ADDRESS_LENGTH) return undefined;
  return `${PREFIX}${signatureOf(address, key)}/${bytes.toString('hex')}`;
}

/** The address that the last two segments of a path stand for; undefined where the signature is not of this key. */
export function externalContentAddress(signature: string, hex: string, key: string): string | undefined {
  if (!/^(?:[0-9a-f]{2})+$/.test(hex) || !/^[0-9a-f]{40}$/.test(signature)) return undefined;
  const address = Buffer.from(hex, 'hex').toString();
  return timingSafeEqual(Buffer.from(signatureOf(address, key)), Buffer.from(signature)) ? address : undefined;
}

/**
 * The address from which readers load media: media of this server directly, media of other sites through this server.
 * Undefined for addresses that cannot be loaded, and for pages of this server, because the browser of the reader would
 * send its session with the request.
 */
export function servedFrom(
  address: string,
  { realmUrl, externalContentKey: key }: Pick<RenderContext, 'realmUrl' | 'externalContentKey'>,
): string | undefined {
  if (isOwnPage(address, realmUrl)) return undefined;
  const isOwn = !/^https?:/i.test(address) || (realmUrl !== '' && address.startsWith(`${realmUrl}/`));
  return isOwn || key === undefined ? address : externalContentPath(address, key);
}
