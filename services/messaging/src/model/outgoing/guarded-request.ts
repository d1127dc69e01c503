import { type LookupAddress, lookup } from 'node:dns';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';

/** The reason why an address was not requested, or why its response is not used. */
export class Refused extends Error {}

type Resolve = (
  name: string,
  options: { all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void;

export interface ReachRules {
  /** Whether connections to this address are permitted. */
  mayReach: (address: string) => boolean;
  /** Looks up all addresses of a name; by default as the operating system does. */
  resolve?: Resolve;
}

interface Sent {
  method?: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
}

/** The URL, if the server may request it. Throws `Refused`. */
export function checkedUrl(address: string, { mayReach }: Pick<ReachRules, 'mayReach'>): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Refused('not a web address');
  if (url.username !== '' || url.password !== '') throw new Refused('an address with credentials');
  const port = Number(url.port);
  if (port !== 0 && port !== 80 && port !== 443 && port < 1_024) throw new Refused('a reserved port');
  // An IP address is not looked up, so `guardedLookup` does not check it.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !mayReach(host)) throw new Refused('an internal address');
  return url;
}

/** Refuses a name unless connections to all of its addresses are permitted. */
const guardedLookup =
  ({ mayReach, resolve = lookup }: ReachRules): LookupFunction =>
  (hostname, options, done) =>
    resolve(hostname, { all: true }, (error, found: LookupAddress[]) => {
      const [first] = found ?? [];
      if (error) done(error, '');
      else if (first === undefined || !found.every(({ address }) => mayReach(address)))
        done(new Refused('a name with an internal address'), '');
      else if (options.all) done(null, found);
      else done(null, first.address, first.family);
    });

/**
 * Requests a checked URL of another site, without following redirects. A name is looked up once, and the connection uses
 * the checked address, so a name that changes its addresses cannot lead to an internal one. Throws `Refused`, or the
 * error of the connection.
 */
export function guardedRequest(url: URL, rules: ReachRules, sent: Sent): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { body, headers, ...options } = sent;
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  send(url, {
    ...options,
    agent: false,
    lookup: guardedLookup(rules),
    headers: { 'user-agent': 'Natter', ...headers, 'accept-encoding': 'identity', ...length },
  })
    .on('response', resolve)
    .on('error', reject)
    .end(body);
  return promise;
}

/** The body of a response. Throws `Refused` if it is compressed or too large. */
export async function bodyOf(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  try {
    if (!/^(?:identity)?$/.test(answer.headers['content-encoding'] ?? '')) throw new Refused('compressed');
    if (Number(answer.headers['content-length'] ?? 0) > maxBytes) throw new Refused('too large');
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new Refused('too large');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    answer.destroy();
  }
}
