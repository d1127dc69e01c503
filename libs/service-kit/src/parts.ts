import { type Msg, type MsgHdrs, type NatsConnection, nuid } from '@nats-io/nats-core';
import { limits } from '@natter/contracts';

/**
 * What is larger than a message of NATS may be (replies of whole realms, uploaded files) travels in parts: the first with the
 * message, which names a subject where the receiver asks for each of the others by its number.
 */
const partsHeader = 'Natter-Parts';
const subjectHeader = 'Natter-Parts-Subject';
const keepMs = 30_000;

/** The first part, or all there is; names in `headers` where the rest is had until `end` is called or half a minute is over. */
export function offer(
  connection: NatsConnection,
  name: string,
  bytes: Uint8Array,
  headers: MsgHdrs,
): { first: Uint8Array; end: () => void } {
  if (bytes.length <= limits.busPartBytes) return { first: bytes, end: () => undefined };
  const subject = `natter-parts.${name}.${nuid.next()}`;
  const part = (index: number): Uint8Array =>
    bytes.subarray(index * limits.busPartBytes, (index + 1) * limits.busPartBytes);
  const subscription = connection.subscribe(subject, {
    callback: (_, request) => void request.respond(part(Number(request.string()))),
  });
  const timer = setTimeout(() => subscription.unsubscribe(), keepMs);
  subscription.closed.then(() => clearTimeout(timer));
  headers.set(partsHeader, String(Math.ceil(bytes.length / limits.busPartBytes)));
  headers.set(subjectHeader, subject);
  return { first: part(0), end: () => subscription.unsubscribe() };
}

/** The whole of what was offered; `end` is when the receiver gives up. */
export async function collect(connection: NatsConnection, message: Msg, end: number): Promise<string> {
  const parts = Number(message.headers?.get(partsHeader) || 1);
  if (parts === 1) return message.string();
  const subject = message.headers?.get(subjectHeader) ?? '';
  const rest = await Promise.all(
    Array.from({ length: parts - 1 }, (_, index) =>
      connection.request(subject, String(index + 1), { timeout: Math.max(end - Date.now(), 1) }),
    ),
  );
  return Buffer.concat([message.data, ...rest.map((part) => part.data)]).toString('utf8');
}
