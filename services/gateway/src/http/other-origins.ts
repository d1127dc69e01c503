import type { FastifyReply, FastifyRequest } from 'fastify';

/** Headers of requests that pages of other origins may send. */
const requestHeaders = [
  ...['authorization', 'content-type', 'idempotency-key', 'last-event-id', 'traceparent', 'user-agent'],
  ...['tus-resumable', 'upload-length', 'upload-metadata', 'upload-offset', 'x-http-method-override'],
].join(', ');

const apiPath = /^\/+api\/+v1(?:[/?]|$)/;

const allOrigins = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' };
const noHeaders = {};

/**
 * Headers that let pages of every origin read answers of `/api/v1`, errors included. The API ignores cookies, and with `*`
 * browsers show no answer of a request with cookies, so a page reads what any program with the same key and network reads.
 */
export const originHeaders = (url = ''): Record<string, string> => (apiPath.test(url) ? allOrigins : noHeaders);

/** Whether a browser asks if a page of another origin may send a request to the API. */
export const isPreflight = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && apiPath.test(url);

/** The same for every path: the page shall read the error of a wrong path or method. */
export const answerPreflight = (reply: FastifyReply): FastifyReply =>
  reply
    .code(204)
    .header('access-control-allow-methods', 'GET, HEAD, POST, PUT, PATCH, DELETE')
    .header('access-control-allow-headers', requestHeaders)
    .header('access-control-max-age', 86_400)
    .send();
