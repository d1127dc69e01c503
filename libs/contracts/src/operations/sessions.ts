import { string } from '../model/bounded.ts';
import { operation, pageSchema } from '../model/operation.ts';
import { bool, json, text } from '../model/param.ts';

const next = text(
  string(1_000).optional().describe('Where the browser is led after the login: a path of this server.'),
);

/**
 * Sessions of browsers. The cookie of a session takes the place of the API key at `/json/…`, where every operation of
 * `/api/v1/…` is, and for files.
 */
export const sessionOperations = {
  loginPage: operation({
    name: 'login-page',
    service: 'users',
    page: { method: 'GET', path: '/accounts/login' },
    session: 'form',
    caller: 'public',
    summary: 'The page to log in with a browser.',
    params: { next },
    result: pageSchema,
    isReadOnly: true,
  }),
  login: operation({
    name: 'login',
    service: 'users',
    page: { method: 'POST', path: '/accounts/login' },
    session: 'begins',
    caller: 'public',
    summary: 'Begin a session: the response sets its cookie and leads to the next page.',
    weight: 3,
    checksPassword: true,
    params: { username: text(string(1_000)), password: text(string(1_000)), next },
    result: pageSchema,
    errors: ['AUTHENTICATION_FAILED'],
    events: ['credentials_changed'],
  }),
  logout: operation({
    name: 'logout',
    service: 'users',
    page: { method: 'POST', path: '/accounts/logout' },
    session: 'ends',
    summary: 'End the session of the request, and lead to the page to log in.',
    params: {
      everywhere: json(
        bool.default(false).describe('Whether all other sessions and all API keys of the user end too.'),
      ),
    },
    result: pageSchema,
    events: ['credentials_changed'],
  }),
};
