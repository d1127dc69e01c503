import type { Answer, Client, Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { channel, freshName, openQuietRealm, systemGroups } from './setting.ts';

/**
 * Permissions by role: each operation on each kind of channel, for subscribers and for others. The cells are written by
 * hand and list the permitted roles: o owner, a administrator, m moderator, u member, g guest. Another user created the
 * channel, with default permissions. A dash marks an operation that does not exist for that kind.
 */
const kinds = ['public', 'private', 'web-public', 'archived'] as const;
type Kind = (typeof kinds)[number];
const roles = { o: 'owner', a: 'administrator', m: 'moderator', u: 'member', g: 'guest' } as const;

let realm: Realm;
let groups: Record<string, number>;
let creator: Client;
let peer: Client;
let newcomer: Client;
beforeAll(async () => {
  realm = await openQuietRealm();
  groups = await systemGroups(realm);
  await realm.owner.ok('PATCH', '/realm', {
    enable_spectator_access: true,
    can_create_web_public_channel_group: { new: groups['role:owners'] },
  });
  creator = await realm.person({ role: 'owner' });
  peer = await realm.person();
  newcomer = await realm.person();
});

interface Case {
  who: Client;
  id: number;
  name: string;
}
const isDone = ({ status }: Answer): boolean => status === 200;

const operations: [string, (at: Case) => Promise<boolean>, Record<Kind, [subscribed: string, others: string]>][] = [
  [
    'see it',
    async ({ who, id }) => isDone(await who.patiently('GET', `/streams/${id}`)),
    {
      public: ['oamug', 'oamu'],
      private: ['oamug', 'oa'],
      'web-public': ['oamug', 'oamug'],
      archived: ['oamug', 'oamu'],
    },
  ],
  [
    'see its subscribers',
    async ({ who, id }) => isDone(await who.patiently('GET', `/streams/${id}/members`)),
    {
      public: ['oamug', 'oamu'],
      private: ['oamug', 'oa'],
      'web-public': ['oamug', 'oamug'],
      archived: ['oamug', 'oamu'],
    },
  ],
  [
    'find it by name',
    async ({ who, name }) => isDone(await who.patiently('GET', '/get_stream_id', { stream: name })),
    { public: ['oamug', 'oamu'], private: ['oamug', 'oa'], 'web-public': ['oamug', 'oamug'], archived: ['', ''] },
  ],
  [
    'read its mail address',
    async ({ who, id }) => isDone(await who.patiently('GET', `/streams/${id}/email_address`)),
    {
      public: ['oamug', 'oamu'],
      private: ['oamug', ''],
      'web-public': ['oamug', 'oamug'],
      archived: ['oamug', 'oamu'],
    },
  ],
  [
    'subscribe',
    async ({ who, name }) =>
      isDone(await who.patiently('POST', '/users/me/subscriptions', { subscriptions: [{ name }] })),
    { public: ['oamu', 'oamu'], private: ['oamu', ''], 'web-public': ['oamu', 'oamu'], archived: ['-', '-'] },
  ],
  [
    'subscribe another user',
    async ({ who, name }) =>
      isDone(
        await who.patiently('POST', '/users/me/subscriptions', {
          subscriptions: [{ name }],
          principals: [newcomer.user_id],
        }),
      ),
    { public: ['oamu', 'oamu'], private: ['oamu', ''], 'web-public': ['oamu', 'oamu'], archived: ['-', '-'] },
  ],
  [
    'leave',
    async ({ who, name }) => {
      const { status, body } = await who.patiently('DELETE', '/users/me/subscriptions', { subscriptions: [name] });
      return status === 200 && body.removed.length === 1;
    },
    { public: ['oamug', ''], private: ['oamug', ''], 'web-public': ['oamug', ''], archived: ['oamug', ''] },
  ],
  [
    'remove another user',
    async ({ who, name }) =>
      isDone(
        await who.patiently('DELETE', '/users/me/subscriptions', { subscriptions: [name], principals: [peer.user_id] }),
      ),
    { public: ['oa', 'oa'], private: ['oa', 'oa'], 'web-public': ['oa', 'oa'], archived: ['oa', 'oa'] },
  ],
  [
    'change their own settings of it',
    async ({ who, id }) =>
      isDone(await who.patiently('PATCH', `/users/me/subscriptions/${id}`, { property: 'pin_to_top', value: true })),
    { public: ['oamug', ''], private: ['oamug', ''], 'web-public': ['oamug', ''], archived: ['oamug', ''] },
  ],
  [
    'rename and describe it',
    async ({ who, id }) =>
      isDone(await who.patiently('PATCH', `/streams/${id}`, { new_name: freshName(), description: 'new' })),
    { public: ['oa', 'oa'], private: ['oa', 'oa'], 'web-public': ['oa', 'oa'], archived: ['oa', 'oa'] },
  ],
  [
    'change who may post',
    async ({ who, id }) =>
      isDone(
        await who.patiently('PATCH', `/streams/${id}`, { can_send_message_group: { new: groups['role:moderators'] } }),
      ),
    { public: ['oa', 'oa'], private: ['oa', 'oa'], 'web-public': ['oa', 'oa'], archived: ['oa', 'oa'] },
  ],
  [
    'change who may subscribe',
    async ({ who, id }) =>
      isDone(
        await who.patiently('PATCH', `/streams/${id}`, { can_subscribe_group: { new: groups['role:moderators'] } }),
      ),
    { public: ['oa', 'oa'], private: ['oa', ''], 'web-public': ['oa', 'oa'], archived: ['oa', 'oa'] },
  ],
  [
    'change whether it is private',
    async ({ who, id }) => {
      const is_private = !(await creator.ok('GET', `/streams/${id}`)).stream.invite_only;
      return isDone(await who.patiently('PATCH', `/streams/${id}`, { is_private }));
    },
    { public: ['oa', 'oa'], private: ['oa', ''], 'web-public': ['oa', 'oa'], archived: ['oa', 'oa'] },
  ],
  [
    'open it to the web',
    async ({ who, id }) =>
      isDone(await who.patiently('PATCH', `/streams/${id}`, { is_web_public: true, is_private: false })),
    { public: ['o', 'o'], private: ['o', ''], 'web-public': ['oa', 'oa'], archived: ['o', 'o'] },
  ],
  [
    'change the retention',
    async ({ who, id }) => isDone(await who.patiently('PATCH', `/streams/${id}`, { message_retention_days: 9 })),
    { public: ['o', 'o'], private: ['o', 'o'], 'web-public': ['o', 'o'], archived: ['o', 'o'] },
  ],
  [
    'archive it',
    async ({ who, id }) => isDone(await who.patiently('DELETE', `/streams/${id}`)),
    { public: ['oa', 'oa'], private: ['oa', 'oa'], 'web-public': ['oa', 'oa'], archived: ['', ''] },
  ],
  [
    'restore it from the archive',
    async ({ who, id }) => isDone(await who.patiently('PATCH', `/streams/${id}`, { is_archived: false })),
    { public: ['', ''], private: ['', ''], 'web-public': ['', ''], archived: ['oa', 'oa'] },
  ],
  [
    'make it a default channel',
    async ({ who, id }) => isDone(await who.patiently('POST', '/default_streams', { stream_id: id })),
    { public: ['oa', 'oa'], private: ['', ''], 'web-public': ['oa', 'oa'], archived: ['', ''] },
  ],
];

async function make(kind: Kind, subscribers: Client[]): Promise<Omit<Case, 'who'>> {
  const id = await channel(creator, subscribers, {
    invite_only: kind === 'private',
    is_web_public: kind === 'web-public',
  });
  const { name } = (await creator.ok('GET', `/streams/${id}`)).stream;
  if (kind === 'archived') await creator.ok('DELETE', `/streams/${id}`);
  return { id, name };
}

/** After these the next caller would find a changed channel, so each gets a new one. */
const changing = new Set([
  'subscribe another user',
  'change whether it is private',
  'open it to the web',
  'archive it',
  'restore it from the archive',
  'make it a default channel',
]);

test.each(operations)('a channel permits only the listed roles to %s', async (operation, run, cells) => {
  const found: Record<string, string[]> = {};
  for (const kind of kinds) {
    const outcome = async (isSubscribed: boolean): Promise<string> => {
      const expected = cells[kind][isSubscribed ? 0 : 1];
      if (expected === '-') return '-';
      let letters = '';
      let fresh: Omit<Case, 'who'> | undefined;
      const everybody = Object.values(roles).map((role) => realm[role]);
      for (const [letter, role] of Object.entries(roles)) {
        fresh ??= await make(kind, [creator, peer, ...(isSubscribed ? everybody : [])]);
        if (!(await run({ who: realm[role], ...fresh }))) continue;
        letters += letter;
        if (changing.has(operation)) fresh = undefined;
      }
      return letters;
    };
    found[kind] = [await outcome(true), await outcome(false)];
  }
  expect(found).toEqual(cells);
});

test('a channel administrator manages the channel, but needs content access to subscribe or to open it', async () => {
  const { member } = realm;
  for (const invite_only of [false, true]) {
    const id = await channel(creator, [creator, peer], {
      invite_only,
      can_administer_channel_group: { direct_members: [member.user_id, realm.guest.user_id], direct_subgroups: [] },
    });
    const { name } = (await member.ok('GET', `/streams/${id}`)).stream;
    const may = async (method: string, path: string, form: object) =>
      isDone(await member.patiently(method, path, { ...form }));
    expect(await may('PATCH', `/streams/${id}`, { description: 'mine' })).toBe(true);
    expect(
      await may('PATCH', `/streams/${id}`, { can_remove_subscribers_group: { new: groups['role:members'] } }),
    ).toBe(true);
    // Metadata access to a private channel is not content access.
    expect(await may('PATCH', `/streams/${id}`, { can_subscribe_group: { new: groups['role:members'] } })).toBe(
      !invite_only,
    );
    expect(await may('POST', '/users/me/subscriptions', { subscriptions: [{ name }] })).toBe(!invite_only);
    expect(await may('DELETE', '/users/me/subscriptions', { subscriptions: [name], principals: [peer.user_id] })).toBe(
      true,
    );
    expect(await may('PATCH', `/streams/${id}`, { message_retention_days: 5 })).toBe(false);
    expect(await may('POST', '/default_streams', { stream_id: id })).toBe(false);
    // A guest administers nothing, even as a member of the group.
    expect((await realm.guest.get(`/streams/${id}`)).status).toBe(400);
    expect(await may('DELETE', `/streams/${id}`, {})).toBe(true);
  }
});
