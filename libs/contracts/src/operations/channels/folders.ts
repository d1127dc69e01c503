import { z } from 'zod';
import { id, string } from '../../model/bounded.ts';
import { operation } from '../../model/operation.ts';
import { bool, idList, json, text } from '../../model/param.ts';

const channelFolderSchema = z.object({
  id: z.int().describe('The ID of the folder of channels.'),
  name: z.string().describe('The name of the folder.'),
  description: z.string(),
  rendered_description: z.string(),
  date_created: z.int(),
  creator_id: z.int().nullable(),
  order: z.int().describe('The position of the folder among the others.'),
  is_archived: z.boolean(),
});

export const channelFolderOperations = {
  getChannelFolders: operation({
    name: 'get-channel-folders',
    service: 'channels',
    http: { method: 'GET', path: '/channel_folders' },
    summary: 'The folders of channels, in their order.',
    params: { include_archived: json(bool.default(false)) },
    result: z.object({ channel_folders: z.array(channelFolderSchema) }),
  }),
  createChannelFolder: operation({
    name: 'create-channel-folder',
    service: 'channels',
    http: { method: 'POST', path: '/channel_folders/create' },
    role: 'administrator',
    summary: 'Create a folder of channels.',
    params: {
      name: text(string(1_000).describe('The name of the folder.')),
      description: text(string(5_000).default('')),
    },
    result: z.object({ channel_folder_id: z.int() }),
    errors: ['BAD_REQUEST'],
    events: ['channel_folder'],
  }),
  reorderChannelFolders: operation({
    name: 'reorder-channel-folders',
    service: 'channels',
    http: { method: 'PATCH', path: '/channel_folders' },
    role: 'administrator',
    summary: 'Put the folders of channels in order.',
    params: { order: json(idList(10_000).describe('The IDs of all folders, in their new order.')) },
    errors: ['BAD_REQUEST'],
    events: ['channel_folder'],
  }),
  updateChannelFolder: operation({
    name: 'update-channel-folder',
    service: 'channels',
    http: { method: 'PATCH', path: '/channel_folders/{channel_folder_id}' },
    role: 'administrator',
    summary: 'Rename, describe or archive a folder of channels.',
    params: {
      channel_folder_id: json(id),
      name: text(string(1_000).describe('The new name of the folder.').optional()),
      description: text(string(5_000).optional()),
      is_archived: json(bool.optional()),
    },
    errors: ['BAD_REQUEST'],
    events: ['channel_folder'],
  }),
};
