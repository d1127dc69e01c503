import type { ServerResponse } from 'node:http';
import { badRequest, type RequestMeta } from '@natter/contracts';
import type { FastifyRequest } from 'fastify';
import { networkOf } from './network.ts';
import type { Hangup } from './polls.ts';
import type { FoundRealm } from './realm-of-host.ts';

/** What the gateway tells services about a request; the realm is found by the request's host. */
export async function metaOf(
  request: FastifyRequest,
  findRealm: (host: string, meta: RequestMeta) => Promise<FoundRealm>,
): Promise<RequestMeta> {
  const host = request.host.toLowerCase();
  const meta: RequestMeta = {
    requestId: request.id,
    realmId: 0,
    client: clientOf(request),
    network: networkOf(request.ip),
    idempotencyKey: keyOf(request),
  };
  return { ...meta, ...(await findRealm(host, meta)) };
}

/** Stored with the answer of the request. */
const maxKeyLength = 255;

function keyOf(request: FastifyRequest): string | undefined {
  const key = headerOf(request, 'idempotency-key');
  if (key !== undefined && key.length > maxKeyLength)
    throw badRequest(`Idempotency-Key is too long (limit: ${maxKeyLength} characters)`);
  return key;
}

export const headerOf = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
};

export const hangupOf = (response: ServerResponse): Hangup => ({
  get isOver() {
    return response.closed || response.destroyed;
  },
  onOver: (listener) => {
    response.once('close', listener);
    return () => response.off('close', listener);
  },
});

/** The name in `Name/1.2 (…)`; it may contain spaces. */
const clientOf = (request: FastifyRequest): string =>
  nameOf(/^[^/(]+/.exec(request.headers['user-agent'] ?? '')?.[0] ?? '');

export const nameOf = (client: string): string => client.trim().slice(0, 60) || 'Unspecified';
