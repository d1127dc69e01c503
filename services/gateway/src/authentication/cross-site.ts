import { ChatError, type Operation } from '@natter/contracts';
import type { FastifyRequest } from 'fastify';
import { headerOf } from '../http/headers.ts';
import type { Fields } from '../http/request-fields.ts';
import { csrfCookieOf, csrfTokenOf, isSameToken, sessionOf } from './session-cookies.ts';

/** Properties of a request that decide whether it is protected against other sites. */
interface Protected {
  surface: 'api' | 'json' | 'page';
  operation: Operation | undefined;
  realmUrl: string;
}

const changesSession = ({ surface, operation }: Protected): boolean =>
  surface === 'page' && (operation?.session === 'begins' || operation?.session === 'ends');

const isSafe = ({ method }: FastifyRequest): boolean => ['GET', 'HEAD', 'OPTIONS'].includes(method);

/**
 * Refuses what a browser sends for a page of another origin, before the body is read. Applies where a cookie
 * authenticates or a session begins; a browser does not let pages choose these headers.
 */
export function checkOrigin(request: FastifyRequest, about: Protected): void {
  if (about.surface !== 'json' && !changesSession(about)) return;
  if (isFromElsewhere(request, about.realmUrl)) throw csrfFailed('The request comes from another site.');
}

/**
 * Requires that a request which may change something repeats the token of the cookie `csrftoken`, in the header
 * `X-CSRFToken` or in the field `csrfmiddlewaretoken` of its body: a page of another site can make a browser send the
 * cookies, but cannot read them. The fields lose the token.
 */
export function checkCsrfToken(request: FastifyRequest, about: Protected, bodyFields: Fields, fields: Fields): void {
  if (about.surface !== 'json' && !changesSession(about)) return;
  const given = headerOf(request, 'x-csrftoken') ?? bodyFields.csrfmiddlewaretoken;
  delete fields.csrfmiddlewaretoken;
  if (isSafe(request)) return;
  const session = sessionOf(request, about.realmUrl);
  // Forms of this origin need no token. Programs, which send no origin, repeat the token of the cookie.
  if (changesSession(about) && isFromHere(request, about.realmUrl)) return;
  if (session === undefined && about.operation?.session !== 'begins') return;
  const expected = [
    ...(session === undefined ? [] : [csrfTokenOf(session)]),
    ...(about.operation?.session === 'begins' ? [csrfCookieOf(request, about.realmUrl) ?? ''] : []),
  ].filter((token) => token !== '');
  if (!expected.some((token) => isSameToken(given, token)))
    throw csrfFailed('CSRF token missing or incorrect: repeat the cookie csrftoken in the header X-CSRFToken.');
}

/** Whether the browser names another origin than this one. Programs name none. */
function isFromElsewhere(request: FastifyRequest, realmUrl: string): boolean {
  const site = headerOf(request, 'sec-fetch-site');
  // `none`: a person entered the address.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin } = request.headers;
  return origin !== undefined && origin !== originOf(request, realmUrl);
}

/** Whether the browser names this origin. */
function isFromHere(request: FastifyRequest, realmUrl: string): boolean {
  if (isFromElsewhere(request, realmUrl)) return false;
  return request.headers.origin !== undefined || headerOf(request, 'sec-fetch-site') === 'same-origin';
}

/** The origin that browsers see: the host of the request, with the scheme of the realm because a proxy ends TLS. */
const originOf = (request: FastifyRequest, realmUrl: string): string | undefined => {
  const url = `${new URL(realmUrl).protocol}//${request.host}`;
  // Some names of hosts, such as 1.2.3.999, are no hosts of URLs. No browser has such an origin.
  return URL.canParse(url) ? new URL(url).origin : undefined;
};

const csrfFailed = (message: string): ChatError => new ChatError('CSRF_FAILED', message);
