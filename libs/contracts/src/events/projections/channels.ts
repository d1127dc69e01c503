import { personEvents } from '../durable-consumers.ts';
import { accounts, email, memberColumns, members, realm_id, subgroupColumns, subgroups } from './owned-rows.ts';
import type { Projection } from './projection.ts';

export const channelsProjections: readonly Projection[] = [
  {
    service: 'channels',
    table: 'channels.person',
    consumer: 'people',
    events: [...personEvents, 'user_settings/update'],
    columns: {
      realm_id,
      user_id: 'a.id',
      email,
      role: 'a.role',
      is_active: 'a.is_active',
      is_bot: 'a.is_bot',
      bot_owner_id: 'a.bot_owner_id',
      created_by: 'a.created_by',
    },
    from: accounts,
    // The defaults of a channel's notification settings: the user's own settings over the realm's defaults.
    own: ['notifications'],
  },
  {
    service: 'channels',
    table: 'channels.user_group',
    consumer: 'people',
    events: ['user_group/add', 'user_group/update', 'user_group/remove'],
    columns: {
      realm_id: 'g.realm_id',
      id: 'g.id',
      name: 'g.name',
      is_system: 'g.is_system',
      is_active: 'NOT g.is_deactivated',
    },
    from: 'users.user_group g',
  },
  {
    service: 'channels',
    table: 'channels.group_member',
    consumer: 'people',
    events: ['user_group/add', 'user_group/add_members', 'user_group/remove_members'],
    columns: memberColumns,
    from: members,
  },
  {
    service: 'channels',
    table: 'channels.group_subgroup',
    consumer: 'people',
    events: ['user_group/add', 'user_group/add_subgroups', 'user_group/remove_subgroups'],
    columns: subgroupColumns,
    from: subgroups,
  },
];
