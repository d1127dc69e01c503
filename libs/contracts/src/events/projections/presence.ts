import { personEvents, realmEvents } from '../durable-consumers.ts';
import { accounts, email, realm_id } from './owned-rows.ts';
import type { Projection } from './projection.ts';

export const presenceProjections: readonly Projection[] = [
  {
    service: 'presence',
    table: 'presence.person',
    consumer: 'people',
    events: [...personEvents, 'user_settings/update'],
    columns: {
      realm_id,
      user_id: 'a.id',
      email,
      is_active: 'a.is_active',
      is_bot: 'a.is_bot',
      presence_enabled: "coalesce((a.settings->>'presence_enabled')::boolean, true)",
    },
    from: accounts,
  },
  {
    service: 'presence',
    table: 'presence.realm',
    consumer: 'people',
    events: realmEvents,
    columns: { realm_id: 'r.id', presence_disabled: "(r.settings->>'presence_disabled')::boolean" },
    from: "users.realm r WHERE r.settings ? 'presence_disabled'",
  },
];
