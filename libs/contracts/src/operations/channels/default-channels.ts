import { id, list, string } from '../../model/bounded.ts';
import { operation } from '../../model/operation.ts';
import { json, text } from '../../model/param.ts';

const stream_id = json(id);
const group_id = json(id.describe('The ID of the group of default channels.'));
const stream_names = json(list(string(300), 1_000));

export const defaultChannelOperations = {
  addDefaultChannel: operation({
    name: 'add-default-channel',
    service: 'channels',
    http: { method: 'POST', path: '/default_streams' },
    role: 'administrator',
    summary: 'Make a channel one that new users are subscribed to.',
    params: { stream_id },
    errors: ['BAD_REQUEST'],
    events: ['default_streams'],
  }),
  createDefaultChannels: operation({
    name: 'create-default-channels',
    service: 'channels',
    caller: 'operator',
    summary: 'Create public default channels in the name of an owner, who is subscribed. Existing ones stay. Bus only.',
    params: { user_id: json(id), names: json(list(string(300), 100)) },
    errors: ['BAD_REQUEST'],
    events: ['stream', 'subscription', 'default_streams'],
  }),
  removeDefaultChannel: operation({
    name: 'remove-default-channel',
    service: 'channels',
    http: { method: 'DELETE', path: '/default_streams' },
    role: 'administrator',
    summary: 'Subscribe new users to a channel no more.',
    params: { stream_id },
    errors: ['BAD_REQUEST'],
    events: ['default_streams'],
  }),
  createDefaultGroup: operation({
    name: 'create-default-group',
    service: 'channels',
    http: { method: 'POST', path: '/default_stream_groups/create' },
    role: 'administrator',
    summary: 'Create a group of channels that new users may choose.',
    params: { group_name: text(string(1_000)), description: text(string(5_000)), stream_names },
    errors: ['BAD_REQUEST', 'STREAM_DOES_NOT_EXIST'],
    events: ['default_stream_groups'],
  }),
  updateDefaultGroup: operation({
    name: 'update-default-group',
    service: 'channels',
    http: { method: 'PATCH', path: '/default_stream_groups/{group_id}' },
    role: 'administrator',
    summary: 'Rename or describe a group of default channels.',
    params: {
      group_id,
      new_group_name: text(string(1_000).optional()),
      new_description: text(string(5_000).optional()),
    },
    errors: ['BAD_REQUEST'],
    events: ['default_stream_groups'],
  }),
  deleteDefaultGroup: operation({
    name: 'delete-default-group',
    service: 'channels',
    http: { method: 'DELETE', path: '/default_stream_groups/{group_id}' },
    role: 'administrator',
    summary: 'Delete a group of default channels.',
    params: { group_id },
    errors: ['BAD_REQUEST'],
    events: ['default_stream_groups'],
  }),
  changeDefaultGroup: operation({
    name: 'change-default-group',
    service: 'channels',
    http: { method: 'PATCH', path: '/default_stream_groups/{group_id}/streams' },
    role: 'administrator',
    summary: 'Add channels to a group of default channels, or remove them.',
    params: { group_id, op: text(string(1_000).describe('`add` or `remove`.')), stream_names },
    errors: ['BAD_REQUEST', 'STREAM_DOES_NOT_EXIST'],
    events: ['default_stream_groups'],
  }),
};
