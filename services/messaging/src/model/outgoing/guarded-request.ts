import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { addressProblem } from '@natter/contracts';
import { askNameServers, type Resolve } from './resolve-name.ts';

/** The reason why an address was not requested, or why its response is not used. */
export class Refused extends Error {}

/** A name with an internal address. People whom this is shown to could learn which internal names exist. */
export class RefusedName extends Refused {}

export interface ReachRules {
  /** Whether connections to this address are permitted. */
  mayReach: (address: string) => boolean;
  /** Looks up all addresses of a name; by default at the name servers of the machine. */
  resolve?: Resolve;
}

interface Sent {
  method?: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
}

/** A site may send a few responses with status 1xx before the final one. */
const maxInformational = 8;

/** The URL, if the server may request it. Throws `Refused`. */
export function checkedUrl(address: string, { mayReach }: Pick<ReachRules, 'mayReach'>): URL {
  const problem = addressProblem(address);
  if (problem !== undefined) throw new Refused(problem);
  const url = new URL(address);
  // An IP address is not looked up, so `guardedLookup` does not check it.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !mayReach(host)) throw new Refused('an internal address');
  return url;
}

/** Refuses a name unless connections to all of its addresses are permitted. */
const guardedLookup =
  ({ mayReach, resolve = askNameServers() }: ReachRules, signal: AbortSignal): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname, signal).then(
      (found) => {
        const [first] = found;
        if (first === undefined || !found.every(({ address }) => mayReach(address)))
          done(new RefusedName('a name with an internal address'), '');
        else if (options.all) done(null, found);
        else done(null, first.address, first.family);
      },
      (error: Error) => done(error, ''),
    );
  };

/**
 * Requests a checked URL of another site, without following redirects. A name is looked up once, and the connection uses
 * the checked address, so a name that changes its addresses cannot lead to an internal one. Throws `Refused`, or the
 * error of the connection. Ends when the signal is aborted, whatever the site does.
 */
export function guardedRequest(url: URL, rules: ReachRules, sent: Sent): Promise<IncomingMessage> {
  const { body, headers, ...options } = sent;
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const request = send(url, {
    ...options,
    agent: false,
    lookup: guardedLookup(rules, sent.signal),
    headers: { 'user-agent': 'Natter', ...headers, 'accept-encoding': 'identity', ...length },
  });
  const response = responseTo(request, sent.signal);
  request.end(body);
  return response;
}

/** Rejects at every end of the request without a response. Node reports some of them as nothing but `close`. */
function responseTo(request: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const refuse = (reason: string): void => {
    reject(new Refused(reason));
    request.destroy();
  };
  let response: IncomingMessage | undefined;
  let informed = 0;
  const abort = (): void => {
    reject(signal.reason);
    // Node takes a body without a stated length for complete when the connection is closed.
    response?.destroy(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  request
    .on('response', (begun) => {
      response = begun;
      resolve(begun);
    })
    .on('upgrade', (_, socket) => {
      socket.destroy();
      refuse('status 101');
    })
    .on('information', () => {
      if (++informed > maxInformational) refuse('too many informational responses');
    })
    .on('error', reject)
    .on('close', () => {
      signal.removeEventListener('abort', abort);
      reject(new Error('the connection ended without a response'));
    });
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
