import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type LogEntry, ownsEvent } from '@natter/contracts';

/**
 * Each service signs the entries it appends with its own key, which it gets from the record; gateways have all keys. A
 * signature proves that the service itself wrote the entry, so gateways deliver it without reading the record. Entries
 * without a signature, or signed by a service that does not own the type, are read from the record.
 */
export interface Signer {
  /** The schema of the service. */
  source: string;
  key: KeyObject;
}

/** The key object with which signing takes a fifth of the time. */
export const signingKey = (bytes: Buffer): KeyObject => createSecretKey(bytes);

/**
 * Entries that event-queue signs are valid with any event type: it reads them from the record, and `log.append`
 * accepts an event only from the owner of its type.
 */
const recordKeeper = 'event_queue';

/** The HMAC of the concatenated texts. */
function mac(key: KeyObject, ...texts: (string | Uint8Array)[]): string {
  const hmac = createHmac('sha256', key);
  for (const text of texts) hmac.update(text);
  return hmac.digest('base64url');
}

/** The text that a stored entry's signature covers. An ephemeral entry has no number yet when it is signed. */
const storedText = (realmId: number, entry: Pick<LogEntry, 'number' | 'n' | 'mark'>, data: string): string =>
  entry.n === 0 ? `entry ${realmId} ${entry.number} ${entry.mark} ${data}` : ephemeralText(realmId, data);
const ephemeralText = (realmId: number, data: string): string => `ephemeral ${realmId} ${data}`;

/** `source:signature`, stored beside an entry's data. */
export const signEntry = (
  signer: Signer,
  realmId: number,
  entry: Pick<LogEntry, 'number' | 'n' | 'mark'>,
  data: string,
): string => `${signer.source}:${mac(signer.key, storedText(realmId, entry, data))}`;

export const signEphemeral = (signer: Signer, realmId: number, data: string): string =>
  `${signer.source}:${mac(signer.key, ephemeralText(realmId, data))}`;

const hintStart = (realmId: number): string => `hint ${realmId} `;

/** A hint with its signature as the first member, computed over the rest. */
export function signHint(signer: Signer, realmId: number, hint: object): string {
  const rest = JSON.stringify(hint).slice(1);
  return `{"signature":"${signer.source}:${mac(signer.key, hintStart(realmId), rest)}",${rest}`;
}

export interface Verifier {
  /** Whether the owner of the entry's type, or event-queue, signed it. `data` is the stored text. */
  isGenuine(realmId: number, entry: LogEntry, data: string, signature: string | undefined): boolean;
  /** Whether one service signed the hint, and may append all its entries. */
  isGenuineHint(realmId: number, hint: { signature?: string; entries?: LogEntry[] }, payload: Uint8Array): boolean;
}

/** `keyOf`: the key of a source, if known. `onDoubt`: called when no known key matches a signature. */
export function createVerifier(keyOf: (source: string) => KeyObject | undefined, onDoubt: () => void): Verifier {
  function signerOf(signature: string | undefined, texts: () => (string | Uint8Array)[]): string | undefined {
    const [source = '', given = ''] = signature?.split(':') ?? [];
    const key = keyOf(source);
    if (!key) return undefined;
    const [expected, actual] = [Buffer.from(mac(key, ...texts())), Buffer.from(given)];
    return expected.length === actual.length && timingSafeEqual(expected, actual) ? source : undefined;
  }
  const believe = (isGenuine: boolean): boolean => {
    if (!isGenuine) onDoubt();
    return isGenuine;
  };
  const mayAppend = (source: string | undefined, type: string): boolean =>
    source !== undefined && (source === recordKeeper || ownsEvent(source.replace('_', '-'), type));

  return {
    isGenuine: (realmId, entry, data, signature) =>
      believe(
        mayAppend(
          signerOf(signature, () => [storedText(realmId, entry, data)]),
          entry.event.type,
        ),
      ),
    isGenuineHint(realmId, { signature, entries = [] }, payload) {
      const prefix = Buffer.from(`{"signature":"${signature}",`);
      if (signature === undefined || !prefix.equals(payload.subarray(0, prefix.length))) return believe(false);
      const source = signerOf(signature, () => [hintStart(realmId), payload.subarray(prefix.length)]);
      return believe(source !== undefined && entries.every((entry) => mayAppend(source, entry.event.type)));
    },
  };
}
