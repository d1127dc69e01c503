import { type LookupAddress, lookup } from 'node:dns';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { mediaTypeOf } from './media-type.ts';

/** Why something of another site is not shown. */
export class Refused extends Error {}

export interface Media {
  type: string;
  content: Buffer;
}

type Resolve = (
  name: string,
  options: { all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void;

export interface FetchRules {
  /** Addresses that connections may go to. */
  mayReach: (address: string) => boolean;
  /** Looks up all addresses of a name; by default as the operating system does. */
  resolve?: Resolve;
  maxBytes: number;
  /** For everything: names, redirects, the whole content. */
  timeoutMs: number;
}

const maxRedirects = 3;
const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches media of another site. The name is looked up once per connection, and the connection goes to an address that was checked, so a
 * name that changes its addresses leads nowhere else; the same holds for each redirect. It sends nothing of the reader.
 * Throws `Refused`, or the error of the connection.
 */
export async function fetchMedia(address: string, rules: FetchRules): Promise<Media> {
  const signal = AbortSignal.timeout(rules.timeoutMs);
  let url = checkedUrl(address, rules);
  for (let followed = 0; ; followed++) {
    const answer = await get(url, rules, signal);
    if (!redirects.has(answer.statusCode ?? 0)) return received(answer, rules.maxBytes);
    answer.destroy();
    if (followed === maxRedirects) throw new Refused('too many redirects');
    url = checkedUrl(URL.parse(answer.headers.location ?? '', url.href)?.href ?? '', rules);
  }
}

function checkedUrl(address: string, { mayReach }: FetchRules): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Refused('no web address');
  if (url.username !== '' || url.password !== '') throw new Refused('an address with credentials');
  const port = Number(url.port);
  if (port !== 0 && port !== 80 && port !== 443 && port < 1_024) throw new Refused('a port of another service');
  // No name is looked up for these.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !mayReach(host)) throw new Refused('an internal address');
  return url;
}

/** Answers addresses only where all addresses of the name may be reached. */
const guardedLookup =
  ({ mayReach, resolve = lookup }: FetchRules): LookupFunction =>
  (hostname, options, done) =>
    resolve(hostname, { all: true }, (error, found: LookupAddress[]) => {
      const [first] = found ?? [];
      if (error) done(error, '');
      else if (first === undefined || !found.every(({ address }) => mayReach(address)))
        done(new Refused('a name of an internal address'), '');
      else if (options.all) done(null, found);
      else done(null, first.address, first.family);
    });

function get(url: URL, rules: FetchRules, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const sent: ClientRequest = send(url, {
    agent: false,
    lookup: guardedLookup(rules),
    signal,
    headers: { 'user-agent': 'Natter', accept: 'image/*,video/*,audio/*', 'accept-encoding': 'identity' },
  });
  sent.on('response', resolve).on('error', reject).end();
  return promise;
}

async function received(answer: IncomingMessage, maxBytes: number): Promise<Media> {
  try {
    if (answer.statusCode !== 200) throw new Refused(`status ${answer.statusCode}`);
    if (!/^(?:identity)?$/.test(answer.headers['content-encoding'] ?? '')) throw new Refused('compressed');
    if (Number(answer.headers['content-length'] ?? 0) > maxBytes) throw new Refused('too large');
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new Refused('too large');
      chunks.push(chunk);
    }
    const content = Buffer.concat(chunks);
    const type = mediaTypeOf(content, answer.headers['content-type'] ?? '');
    if (type === undefined) throw new Refused('no media');
    return { type, content };
  } finally {
    answer.destroy();
  }
}
