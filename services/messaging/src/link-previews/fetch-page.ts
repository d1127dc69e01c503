import type { IncomingMessage } from 'node:http';
import { type FetchRules, guardedGet } from '../model/outgoing/guarded-get.ts';
import { Refused } from '../model/outgoing/guarded-request.ts';

export interface Page {
  html: string;
  /** The address after redirects. */
  url: string;
}

const charsetOf = /\bcharset\s*=\s*["']?([\w.:-]{1,40})/i;
/** A page declares its encoding in this many bytes, its header in this many characters. */
const [declaredWithin, namedWithin] = [1_024, 200];

/** Fetches the beginning of a web page. Throws `Refused`, or the error of the connection. */
export async function fetchPage(address: string, rules: FetchRules): Promise<Page> {
  const { answer, url } = await guardedGet(address, 'text/html', rules);
  try {
    const type = answer.headers['content-type'] ?? '';
    if (!/^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(type)) throw new Refused('not a web page');
    return { html: decoded(await beginningOf(answer, rules.maxBytes), type), url: url.href };
  } finally {
    answer.destroy();
  }
}

/** At most this many bytes; the rest is not read. */
async function beginningOf(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

/** The text of a page, in the encoding that its `Content-Type` names, or else the page itself. */
export function decoded(content: Buffer, type: string): string {
  const head = content.subarray(0, declaredWithin).toString('latin1');
  const charset = charsetOf.exec(type.slice(0, namedWithin))?.[1] ?? charsetOf.exec(head)?.[1] ?? 'utf-8';
  return decoderOf(charset).decode(content);
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
