import { badRequest, type RequestMeta } from '@natter/contracts';
import type { FastifyRequest } from 'fastify';
import { headerOf, nameOf } from '../http/headers.ts';
import { networkOf } from '../http/network.ts';
import type { FoundRealm } from './realm-of-host.ts';

export type RealmMeta = RequestMeta & FoundRealm;

/** The metadata of a request for services; the realm is found by host. */
export async function metaOf(
  request: FastifyRequest,
  findRealm: (host: string, meta: RequestMeta) => Promise<FoundRealm>,
): Promise<RealmMeta> {
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

/** The key is stored with the answer of the request. */
const maxKeyLength = 255;

function keyOf(request: FastifyRequest): string | undefined {
  const key = headerOf(request, 'idempotency-key');
  if (key === '') throw badRequest('Idempotency-Key is empty');
  if (key !== undefined && key.length > maxKeyLength)
    throw badRequest(`Idempotency-Key is too long (limit: ${maxKeyLength} characters)`);
  return key;
}

/** The client name of browsers with a session in the API. Messages that this client sends count as read by their sender. */
export const browserClient = 'website';

/** The name in `Name/1.2 (…)`; it may contain spaces. */
const clientOf = (request: FastifyRequest): string =>
  nameOf(/^[^/(]+/.exec(request.headers['user-agent'] ?? '')?.[0] ?? '');
