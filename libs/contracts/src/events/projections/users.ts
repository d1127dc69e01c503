import type { Projection } from './projection.ts';

export const usersProjections: readonly Projection[] = [
  {
    service: 'users',
    table: 'users.shared_channel',
    consumer: 'acquaintance',
    events: ['subscription/add', 'subscription/remove'],
    columns: { realm_id: 's.realm_id', channel_id: 's.channel_id', user_id: 's.user_id' },
    from: 'channels.subscription s JOIN users.realm r ON r.id = s.realm_id AND r.limits_guests WHERE s.is_active',
  },
  {
    service: 'users',
    table: 'users.direct_contact',
    consumer: 'acquaintance',
    events: ['acquainted'],
    columns: { realm_id: 'd.realm_id', user_id: 'd.user_id', partner_id: 'd.partner_id' },
    from: `(SELECT DISTINCT m.realm_id, u AS user_id, p AS partner_id FROM messaging.message m
      JOIN users.realm r ON r.id = m.realm_id AND r.limits_guests, unnest(m.recipient_ids) u, unnest(m.recipient_ids) p
      WHERE u <> p) d`,
  },
];
