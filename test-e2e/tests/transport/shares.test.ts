import { type Answer, Client, copyRow, openRealm, type Realm } from '@natter/testkit';
import { expect, test } from 'vitest';
import { uploadTo } from '../upload.ts';

/** Objects that members add to the realm, and how many one member may add. */
const shared = {
  channels: {
    limit: 6_250,
    what: 'channels',
    table: 'channels.channel',
    by: 'creator_id',
    add: (who: Client, index: number) =>
      who.post('/users/me/subscriptions', { subscriptions: [{ name: `channel ${who.user_id} ${index}` }] }),
    differing: { name: "'copy ' || n" },
  },
  groups: {
    limit: 1_250,
    what: 'user groups',
    table: 'users.user_group',
    by: 'creator_id',
    add: (who: Client, index: number) =>
      who.post('/user_groups/create', { name: `group ${who.user_id} ${index}`, description: '', members: [] }),
    differing: { name: "'copy ' || n" },
  },
  emoji: {
    limit: 1_250,
    what: 'custom emoji',
    table: 'users.realm_emoji',
    by: 'author_id',
    add: (who: Client, index: number) => uploadTo(who, `/realm/emoji/emoji${who.user_id}_${index}`),
    differing: { name: "'copy' || n" },
  },
} as const;

async function botOf(realm: Realm, owner: Client): Promise<Client> {
  const [full_name, short_name] = ['Filler', 'filler'];
  const { user_id, api_key } = await owner.ok('POST', '/bots', { full_name, short_name });
  return new Client(owner, { user_id, api_key, full_name, email: `${short_name}-bot@${realm.host}` });
}
const refusalOf = ({ status, body }: Answer) => [status, body.code, body.msg];

test.each(Object.keys(shared) as (keyof typeof shared)[])(
  'a member and their bots take a part of the %s alone; others and administrators have room',
  async (name) => {
    const { limit, what, table, by, add, differing } = shared[name];
    const realm = await openRealm();
    const { member, member2, administrator } = realm;
    expect((await add(member, 0)).status).toBe(200);
    const where = `realm_id = ${realm.id} AND ${by} = ${member.user_id}`;
    await copyRow({ table, where }, limit - 2, differing);
    expect((await add(member, 1)).status).toBe(200);
    const full = [400, 'BAD_REQUEST', `Too many ${what} of one user (limit: ${limit})`];
    expect(refusalOf(await add(member, 2))).toEqual(full);
    const bot = await botOf(realm, member);
    expect(refusalOf(await add(bot, 3))).toEqual(full);
    expect((await add(member2, 4)).status).toBe(200);
    expect((await add(administrator, 5)).status).toBe(200);
  },
  300_000,
);
