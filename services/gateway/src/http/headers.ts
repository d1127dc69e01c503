import { shortName } from '@natter/contracts';
import type { FastifyRequest } from 'fastify';

export const headerOf = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** The `cache-control` of every response that does not set another. */
export const uncached = 'no-cache, no-store, must-revalidate, private';

export const nameOf = (client: string): string => shortName(client, 60) || 'Unspecified';
