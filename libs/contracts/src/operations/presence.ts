import { z } from 'zod';
import { operation } from '../operation.ts';
import { bool, int, json, text } from '../param.ts';

/** The fetch types of a register that this service answers. */
export const presenceFetchTypes: readonly string[] = ['presence'];

export const presenceOperations = {
  updatePresence: operation({
    name: 'update-presence',
    service: 'presence',
    http: { method: 'POST', path: '/users/me/presence' },
    summary: 'Tell that the caller is here, and learn who else is (specification 4.8).',
    params: {
      status: text(z.enum(['active', 'idle'])),
      last_update_id: json(int.optional()),
      history_limit_days: json(int.min(0).optional()),
      new_user_input: json(bool.default(false)),
      ping_only: json(bool.default(false)),
      slim_presence: json(bool.default(false)),
    },
    result: z.looseObject({ presence_last_update_id: z.int() }),
    events: ['presence'],
  }),
};
