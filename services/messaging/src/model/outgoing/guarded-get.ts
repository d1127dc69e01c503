import type { IncomingMessage } from 'node:http';
import { checkedUrl, guardedRequest, type ReachRules, Refused } from './guarded-request.ts';

export interface FetchRules extends ReachRules {
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
 * Requests content of another site. Each redirect is checked like the first address. The request contains no data of the
 * reader. Throws `Refused`, or the error of the connection.
 */
export async function guardedGet(address: string, accept: string, rules: FetchRules): Promise<Answer> {
  const deadline = AbortSignal.timeout(rules.timeoutMs);
  const signal = rules.signal ? AbortSignal.any([deadline, rules.signal]) : deadline;
  let url = checkedUrl(address, rules);
  for (let followed = 0; ; followed++) {
    const answer = await guardedRequest(url, rules, { headers: { accept }, signal });
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
