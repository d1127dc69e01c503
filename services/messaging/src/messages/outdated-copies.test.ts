import { channelPermissions, idSet, realmPermissions, roles } from '@natter/contracts';
import { openUnit } from '@natter/database';
import type { Handlers, Owner } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { deleteMessageHandlers } from './delete-message.ts';
import { updateMessageHandlers } from './update-message.ts';

const userId = 7;
const nobody = { direct_members: [], direct_subgroups: [] };
const permissionsOf = (names: object, value: object) =>
  Object.fromEntries(Object.keys(names).map((name) => [name, value]));

/** Copies of a channel in which the user may change nothing, and then everything. */
const copies = [nobody, { direct_members: [userId], direct_subgroups: [] }].map((value, index) => ({
  channel_id: 3,
  version: index + 1,
  is_private: false,
  history_public: true,
  topics_policy: 'inherit',
  subscribers: idSet([]),
  permissions: permissionsOf(channelPermissions, value),
}));
const policy = {
  version: 1,
  permissions: permissionsOf(realmPermissions, nobody),
  settings: { topics_policy: 'allow_empty_topic', message_content_delete_limit_seconds: null },
};
const message = { id: 5, sender_id: userId, channel_id: 3, topic: 'a', content: '', sent: 0, channel: copies[0] };
const anchor = { ...message, rendered_content: '', has_widget: false };
const database = { any: async () => [], maybeOne: async () => anchor };

/** A request whose unit fails if a statement follows the expected versions. */
function decided(handlers: Handlers): Promise<unknown> {
  const connection = {
    deadline: { remainingMs: () => 1_000 },
    query: async () => {
      throw new Error('the unit goes on');
    },
  } as unknown as Parameters<typeof openUnit>[0];
  const { work } = openUnit(connection, { realmId: 1 });
  const actor = { realmId: 1, userId, role: roles.member, groupIds: [], basis: {} };
  const write = (decide: (unit: typeof work) => Promise<unknown>) => decide(work);
  const params = { message_id: message.id, topic: 'b', propagate_mode: 'change_one' };
  return Promise.resolve(handlers[0]?.run({ actor, meta: {}, attempt: 0, write }, params));
}

test.each(['changed', 'deleted'])(
  'a message is not %s if the decision used a later copy of its channel than the one by which the user reads it',
  async (how) => {
    const sources = {
      messages: { readable: async () => message },
      channels: { readable: async () => copies[1] },
      policies: { get: async () => policy },
    } as unknown as Parameters<typeof updateMessageHandlers>[1];
    const owner = { database, renderer: { topicLinks: async () => [[]] } } as unknown as Owner;
    const handlers = (how === 'changed' ? updateMessageHandlers : deleteMessageHandlers)(owner, sources);
    await expect(decided(handlers)).rejects.toThrow('an expected version has changed: channel:3');
  },
);
