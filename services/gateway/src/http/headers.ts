import { shortName } from '@natter/contracts';
import type { FastifyRequest } from 'fastify';

export const headerOf = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
};

export const nameOf = (client: string): string => shortName(client, 60) || 'Unspecified';
