import { z } from 'zod';
import { string } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, json, text } from '../model/param.ts';
import { userSchema } from './users.ts';

/** The algorithms of tokens. A realm accepts only the one that its operator set with the key. */
export const jwtAlgorithms = ['HS256', 'HS384', 'HS512', 'RS256'] as const;

/** Logins with JSON Web Tokens that another system signs. */
export const jwtOperations = {
  fetchApiKeyByJwt: operation({
    name: 'fetch-api-key-by-jwt',
    service: 'users',
    http: { method: 'POST', path: '/jwt/fetch_api_key' },
    caller: 'public',
    summary: 'Exchange a JSON Web Token that names an email address for an API key.',
    weight: 3,
    params: {
      token: text(
        string(8_000).describe(
          'The token, signed with the key of the organization. Its claim `email` is the real address of a user; `exp` and `nbf` are respected.',
        ),
      ),
      include_profile: json(bool.default(false).describe('Whether the answer contains the user.')),
    },
    result: z.object({
      api_key: z.string(),
      email: z.string(),
      user_id: z.int(),
      user: userSchema.describe('The user, if asked for.').optional(),
    }),
    errors: ['AUTHENTICATION_FAILED', 'USER_DEACTIVATED', 'REALM_DEACTIVATED'],
  }),
  setJwtKey: operation({
    name: 'set-jwt-key',
    service: 'users',
    caller: 'operator',
    summary: 'Set or remove the key of tokens of the realm. Bus only.',
    params: {
      algorithm: text(z.enum(jwtAlgorithms).optional()),
      key: text(string(10_000).optional()),
    },
    errors: ['BAD_REQUEST'],
  }),
};
