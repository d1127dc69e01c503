import type { FastifyReply, FastifyRequest } from 'fastify';
import { headerOf } from './headers.ts';

export const tusVersion = '1.0.0';
const tusExtensions = 'creation,creation-with-upload,expiration,termination';
/** The type of a body with bytes of a file. */
export const tusBodyType = 'application/offset+octet-stream';

/** Sets headers with the supported version, extensions and size, for the answer to OPTIONS. */
export const setTusSupport = (reply: FastifyReply, maxUploadBytes: number): FastifyReply =>
  reply.header('tus-version', tusVersion).header('tus-extension', tusExtensions).header('tus-max-size', maxUploadBytes);

/** The method of a request of tus: clients in networks that refuse PATCH and DELETE name it in a header of a POST. */
export function tusMethodOf(request: FastifyRequest): string {
  const override = headerOf(request, 'x-http-method-override')?.toUpperCase();
  const isOverridden = request.method === 'POST' && (override === 'PATCH' || override === 'DELETE');
  return isOverridden ? override : request.method;
}
