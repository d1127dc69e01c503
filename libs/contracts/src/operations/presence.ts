import { z } from 'zod';
import { bigId, id, string } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, json, text } from '../model/param.ts';

/** The fetch types of a register that this service answers. */
export const presenceFetchTypes: readonly string[] = ['presence'];

const legacyPresence = z.record(z.string(), z.unknown());

export const presenceOperations = {
  updatePresence: operation({
    name: 'update-presence',
    service: 'presence',
    http: { method: 'POST', path: '/users/me/presence' },
    caller: 'human',
    botRefusal: 'Presence is not supported for bot users.',
    summary: 'Tell that the caller is here, and learn who else is.',
    // The weight of `get-realm-presence`; 0 for `ping_only`, whose answer contains no presence of users.
    weigh: ({ ping_only }) => (ping_only ? 0 : 2),
    // All clients call it once a minute.
    sparesRealm: true,
    params: {
      status: text(z.enum(['active', 'idle']).describe('Whether the user is active or idle.')),
      last_update_id: json(bigId.optional()),
      history_limit_days: json(id.min(0).optional()),
      new_user_input: json(bool.default(false)),
      ping_only: json(bool.default(false)),
      slim_presence: json(bool.default(false)),
    },
    result: z.object({
      presence_last_update_id: z.int(),
      server_timestamp: z.number().optional(),
      presences: z
        .record(z.string(), legacyPresence)
        .describe(
          'The presence of users: by ID with `last_update_id` or `slim_presence`, otherwise by email address. Absent with `ping_only`.',
        )
        .optional(),
      zephyr_mirror_active: bool.describe('Always false.'),
      legacy_mirror_active: bool.describe('Always false.'),
    }),
    errors: ['BAD_REQUEST'],
    events: ['presence'],
  }),
  getRealmPresence: operation({
    name: 'get-realm-presence',
    service: 'presence',
    http: { method: 'GET', path: '/realm/presence' },
    summary: 'Who is here, of all users.',
    weight: 3,
    result: z.object({ server_timestamp: z.number(), presences: z.record(z.string(), legacyPresence) }),
  }),
  getUserPresence: operation({
    name: 'get-user-presence',
    service: 'presence',
    http: { method: 'GET', path: '/users/{user_id_or_email}/presence' },
    summary: 'Whether one user is here.',
    params: { user_id_or_email: text(string(1_000)) },
    result: z.object({
      presence: legacyPresence.describe('The presence of the user, by client, and as `aggregated`.'),
    }),
    errors: ['BAD_REQUEST'],
  }),
};
