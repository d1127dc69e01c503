import { isIPv6 } from 'node:net';
import { badRequest } from '@natter/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

const hostName = /^[a-z0-9_](?:[a-z0-9._-]{0,253})?$/i;

/**
 * Whether the text is exactly `host` or `host:port`, where the host is a name, an IPv4 address or an IPv6 address in
 * brackets.
 */
export function isHost(text: string): boolean {
  const [, literal, name, port] = /^(?:\[([0-9a-f:.]{2,45})\]|([^:[\]]{1,254}))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false;
  return literal === undefined ? name !== undefined && hostName.test(name) : isIPv6(literal);
}

/** The only transfer coding that is decoded. Of `gzip, chunked` Node would pass the compressed bytes on as the body. */
const transferCoding = /^[ \t]*chunked[ \t]*$/i;

/**
 * Requires one host, a path as the target, no transfer coding but `chunked`, and none in HTTP/1.0: a proxy and this
 * process must never read different hosts or bodies from a request.
 */
export function checkHost(request: FastifyRequest, reply: FastifyReply): void {
  const { rawHeaders, url, httpVersion, headers } = request.raw;
  const coding = headers['transfer-encoding'];
  // HTTP/1.0 has no chunks: a proxy that speaks it would read the body as a further request (RFC 9112, 6.1).
  if (coding !== undefined && (httpVersion === '1.0' || !transferCoding.test(coding))) {
    reply.header('connection', 'close');
    throw badRequest(
      httpVersion === '1.0' ? 'HTTP/1.0 has no Transfer-Encoding' : 'The Transfer-Encoding must be chunked',
    );
  }
  if (!url?.startsWith('/')) throw badRequest('The request target must be a path');
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts++;
  const { host = '' } = headers;
  // A proxy may name another host.
  if (hosts !== 1 || !isHost(host) || (request.host !== host && !isHost(request.host)))
    throw badRequest('The Host header must be one host, with or without a port');
}

/**
 * The target that the framework routes. It would answer a path that it cannot decode without running any hook, so
 * without the limits of a connection: such a path is replaced, and `checkPath` refuses the request.
 */
export const decodablePath = (url: string): string => (isDecodable(url) ? url : '/');

export function checkPath({ originalUrl }: FastifyRequest): void {
  if (!isDecodable(originalUrl)) throw badRequest('The path is not valid');
}

function isDecodable(url: string): boolean {
  if (!url.includes('%')) return true;
  const [path = ''] = url.split('?', 1);
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
