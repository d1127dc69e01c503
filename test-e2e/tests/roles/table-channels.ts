import { type Cell, here, signedIn, type Table } from './cell.ts';

const channel = async ({ realm, n }: Cell) => ({
  stream_id: (await realm.owner.ok('POST', '/channels/create', { name: `channel ${n}`, subscribers: [] })).id,
});
const defaultChannel = async (cell: Cell) => {
  const at = await channel(cell);
  await cell.realm.owner.ok('POST', '/default_streams', at);
  return at;
};
const folder = async ({ realm, n }: Cell) => {
  const { channel_folder_id } = await realm.owner.ok('POST', '/channel_folders/create', { name: `Folder ${n}` });
  const { channel_folders } = await realm.owner.ok('GET', '/channel_folders', { include_archived: true });
  return { channel_folder_id, order: channel_folders.map((one: { id: number }) => one.id) };
};
const defaultGroup = async (cell: Cell) => {
  const { stream_id } = await channel(cell);
  const { realm, n } = cell;
  const form = { group_name: `Group ${n}`, description: '', stream_names: [`channel ${n}`] };
  await realm.owner.ok('POST', '/default_stream_groups/create', form);
  const { realm_default_stream_groups } = await realm.owner.ok('POST', '/register', {
    fetch_event_types: ['default_stream_groups'],
    event_types: [],
  });
  const ids = realm_default_stream_groups.map((one: { id: number }) => one.id);
  return { group_id: Math.max(...ids), stream_id };
};

export const channelsTable: Table = {
  'POST /users/me/subscriptions': ['oamubx', { form: ({ n }) => ({ subscriptions: [{ name: `own ${n}` }] }) }],
  'POST /channels/create': ['oamubx', { form: ({ n }) => ({ name: `created ${n}`, subscribers: [] }) }],
  'DELETE /users/me/subscriptions': [
    here,
    {
      at: async (cell) => {
        await channel(cell);
        return {};
      },
      form: async ({ realm, own, n }) => {
        const form = { subscriptions: [{ name: `channel ${n}` }], principals: [own.user_id] };
        await realm.owner.ok('POST', '/users/me/subscriptions', form);
        return { subscriptions: [`channel ${n}`] };
      },
      x: 'STREAM_DOES_NOT_EXIST',
    },
  ],
  'PATCH /users/me/subscriptions': ['oamubx', { form: ({ n }) => ({ add: [{ name: `own too ${n}` }] }) }],
  'GET /users/me/subscriptions': [signedIn],
  'POST /users/me/subscriptions/properties': [
    here,
    { form: ({ channel: stream_id }) => ({ subscription_data: [{ stream_id, property: 'pin_to_top', value: true }] }) },
  ],
  'PATCH /users/me/subscriptions/{stream_id}': [
    here,
    { at: async (cell) => ({ stream_id: cell.channel }), form: () => ({ property: 'is_muted', value: false }) },
  ],
  'GET /users/{user_id}/subscriptions/{stream_id}': [
    here,
    { at: async (cell) => ({ user_id: cell.realm.member.user_id, stream_id: cell.channel }) },
  ],
  'GET /users/{user_id}/channels': [here, { at: async ({ realm }) => ({ user_id: realm.member.user_id }) }],
  'GET /streams/{stream_id}/members': [here, { at: async (cell) => ({ stream_id: cell.channel }) }],
  'GET /streams': [signedIn],
  'GET /streams/{stream_id}': [here, { at: async (cell) => ({ stream_id: cell.channel }) }],
  'GET /get_stream_id': [here, { form: ({ channelName }) => ({ stream: channelName }) }],
  'GET /streams/{stream_id}/email_address': [here, { at: async (cell) => ({ stream_id: cell.channel }) }],
  'PATCH /streams/{stream_id}': ['oa', { at: channel, form: () => ({ description: 'new' }) }],
  'DELETE /streams/{stream_id}': ['oa', { at: channel }],
  'POST /default_streams': ['oa', { at: channel, form: (_, { stream_id }) => ({ stream_id }) }],
  'DELETE /default_streams': ['oa', { at: defaultChannel, form: (_, { stream_id }) => ({ stream_id }) }],
  'POST /default_stream_groups/create': [
    'oa',
    {
      at: channel,
      form: ({ n }) => ({ group_name: `New ${n}`, description: '', stream_names: [`channel ${n}`] }),
      x: 'STREAM_DOES_NOT_EXIST',
    },
  ],
  'PATCH /default_stream_groups/{group_id}': ['oa', { at: defaultGroup, form: () => ({ new_description: 'new' }) }],
  'DELETE /default_stream_groups/{group_id}': ['oa', { at: defaultGroup }],
  'PATCH /default_stream_groups/{group_id}/streams': [
    'oa',
    { at: defaultGroup, form: ({ n }) => ({ op: 'remove', stream_names: [`channel ${n}`] }) },
  ],
  'GET /channel_folders': [signedIn],
  'POST /channel_folders/create': ['oax', { form: ({ n }) => ({ name: `New ${n}` }) }],
  'PATCH /channel_folders': ['oa', { at: folder, form: (_, { order }) => ({ order }) }],
  'PATCH /channel_folders/{channel_folder_id}': ['oa', { at: folder, form: ({ n }) => ({ name: `Renamed ${n}` }) }],
};
