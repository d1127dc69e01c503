import { type LookupAddress, lookup } from 'node:dns';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';

/** The reason why content of another site is not used. */
export class Refused extends Error {}

type Resolve = (
  name: string,
  options: { all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void;

export interface FetchRules {
  /** Whether connections to this address are permitted. */
  mayReach: (address: string) => boolean;
  /** Looks up all addresses of a name; by default as the operating system does. */
  resolve?: Resolve;
  maxBytes: number;
  /** Limit of the whole fetch, with look-ups and redirects. */
  timeoutMs: number;
  /** Ends the fetch earlier. */
  signal?: AbortSignal;
}

/** An answer of another site with status 200, uncompressed. Its reader destroys it. */
export interface Answer {
  answer: IncomingMessage;
  /** The address after redirects. */
  url: URL;
}

const maxRedirects = 3;
const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Requests content of another site. A name is looked up once per connection, and the connection uses the checked address,
 * so a name that changes its addresses cannot lead to an internal one. Each redirect is checked in the same way. The
 * request contains no data of the reader. Throws `Refused`, or the error of the connection.
 */
export async function guardedGet(address: string, accept: string, rules: FetchRules): Promise<Answer> {
  const deadline = AbortSignal.timeout(rules.timeoutMs);
  const signal = rules.signal ? AbortSignal.any([deadline, rules.signal]) : deadline;
  let url = checkedUrl(address, rules);
  for (let followed = 0; ; followed++) {
    const answer = await get(url, accept, rules, signal);
    if (!redirects.has(answer.statusCode ?? 0)) return { answer: usable(answer), url };
    answer.destroy();
    if (followed === maxRedirects) throw new Refused('too many redirects');
    url = checkedUrl(URL.parse(answer.headers.location ?? '', url.href)?.href ?? '', rules);
  }
}

function usable(answer: IncomingMessage): IncomingMessage {
  const reason =
    answer.statusCode !== 200
      ? `status ${answer.statusCode}`
      : /^(?:identity)?$/.test(answer.headers['content-encoding'] ?? '')
        ? undefined
        : 'compressed';
  if (reason === undefined) return answer;
  answer.destroy();
  throw new Refused(reason);
}

function checkedUrl(address: string, { mayReach }: FetchRules): URL {
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
  ({ mayReach, resolve = lookup }: FetchRules): LookupFunction =>
  (hostname, options, done) =>
    resolve(hostname, { all: true }, (error, found: LookupAddress[]) => {
      const [first] = found ?? [];
      if (error) done(error, '');
      else if (first === undefined || !found.every(({ address }) => mayReach(address)))
        done(new Refused('a name with an internal address'), '');
      else if (options.all) done(null, found);
      else done(null, first.address, first.family);
    });

function get(url: URL, accept: string, rules: FetchRules, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const sent: ClientRequest = send(url, {
    agent: false,
    lookup: guardedLookup(rules),
    signal,
    headers: { 'user-agent': 'Natter', accept, 'accept-encoding': 'identity' },
  });
  sent.on('response', resolve).on('error', reject).end();
  return promise;
}
