import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Page } from '@natter/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** 256 random bits in base64url, of a session and of a CSRF token. */
const tokenForm = /^[\w-]{43}$/;
const csrfMaxAgeSeconds = 365 * 86_400;

/**
 * Names of the cookies, the same as those of Zulip. If the realm uses HTTPS, they have the prefix `__Host-`, with which
 * other hosts of the domain cannot set them.
 */
const namesFor = (realmUrl: string): { session: string; csrf: string } => {
  const prefix = isSecure(realmUrl) ? '__Host-' : '';
  return { session: `${prefix}sessionid`, csrf: `${prefix}csrftoken` };
};

const isSecure = (realmUrl: string): boolean => realmUrl.startsWith('https:');

/** The session that a request shows; undefined if it has none. */
export const sessionOf = (request: FastifyRequest, realmUrl: string): string | undefined =>
  cookieOf(request, namesFor(realmUrl).session);

/** The CSRF token that a browser keeps while it has no session. */
export const csrfCookieOf = (request: FastifyRequest, realmUrl: string): string | undefined =>
  cookieOf(request, namesFor(realmUrl).csrf);

/**
 * The CSRF token of a session. It is derived from the session, so that a cookie which somebody else set in the browser
 * is not a valid token, and so that it changes with each login.
 */
export const csrfTokenOf = (session: string): string =>
  createHmac('sha256', session).update('natter csrf token').digest('base64url');

export const isSameToken = (given: string | undefined, expected: string): boolean =>
  given !== undefined && timingSafeEqual(digestOf(given), digestOf(expected));

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The only cookie with a name. Several of one name, such as of a parent domain, are ambiguous, so they count as none. */
function cookieOf({ headers }: FastifyRequest, name: string): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1).replace(/^"(.*)"$/, '$1'));
  const [value] = values;
  return values.length === 1 && value !== undefined && tokenForm.test(value) ? value : undefined;
}

/** Sets the cookies of a new session, or removes those of an ended one. */
export function setSession(reply: FastifyReply, realmUrl: string, session: NonNullable<Page['session']> | null): void {
  const names = namesFor(realmUrl);
  const age = session?.max_age_seconds ?? 0;
  setCookie(reply, realmUrl, { name: names.session, value: session?.token ?? '', age, isHttpOnly: true });
  setCookie(reply, realmUrl, { name: names.csrf, value: session ? csrfTokenOf(session.token) : '', age });
}

/** Sets a cookie with a CSRF token for the login form, unless the browser sent one. */
export function ensureCsrfCookie(request: FastifyRequest, reply: FastifyReply, realmUrl: string): void {
  if (csrfCookieOf(request, realmUrl) !== undefined) return;
  const value = randomBytes(32).toString('base64url');
  setCookie(reply, realmUrl, { name: namesFor(realmUrl).csrf, value, age: csrfMaxAgeSeconds });
}

/** Without `Domain`: the cookie is sent to this host alone, so a realm never gets that of another one. */
function setCookie(
  reply: FastifyReply,
  realmUrl: string,
  { name, value, age, isHttpOnly = false }: { name: string; value: string; age: number; isHttpOnly?: boolean },
): void {
  const attributes = [
    ...['Path=/', `Max-Age=${age}`, 'SameSite=Lax'],
    ...(isHttpOnly ? ['HttpOnly'] : []),
    ...(isSecure(realmUrl) ? ['Secure'] : []),
  ];
  reply.header('set-cookie', `${name}=${value}; ${attributes.join('; ')}`);
}
