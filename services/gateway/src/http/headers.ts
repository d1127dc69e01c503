import { shortName } from '@natter/contracts';
import type { FastifyRequest } from 'fastify';

export const headerOf = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** `br;q=0` refuses it. */
export const acceptsBrotli = (request: FastifyRequest): boolean =>
  (headerOf(request, 'accept-encoding') ?? '')
    .split(',')
    .some((coding) => /^\s*br\s*(?:;|$)/i.test(coding) && !/;\s*q=0(?:\.0*)?\s*$/i.test(coding));

/** The `cache-control` of every response that does not set another. */
export const uncached = 'no-cache, no-store, must-revalidate, private';

export const nameOf = (client: string): string => shortName(client, 60) || 'Unspecified';
