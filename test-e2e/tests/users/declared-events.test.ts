/** Changes of users emit only events of types that the description of their operation lists. */
import { type Client, connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { expect, test } from 'vitest';

/** The types of events that `/openapi.json` lists, by the id of an operation. */
async function listedTypes({ spectator }: Realm): Promise<(operationId: string) => string[]> {
  const { body } = await spectator.get('//openapi.json');
  const described = Object.values<Record<string, Json>>(body.paths).flatMap((methods) => Object.values(methods));
  return (id) => {
    const description: string = described.find(({ operationId }) => operationId === id)?.description ?? '';
    const [, listed = ''] = /Events: (.*)\.$/.exec(description) ?? [];
    return [...listed.matchAll(/`(\w+)`/g)].map(([, type = '']) => type);
  };
}

/** The types of the events for clients that the service of users has emitted since a number of the log, and the last number. */
const emittedSince = ({ id }: Realm, number: number): Promise<{ types: string[]; last: number }> =>
  connected(async (client) => {
    const { rows } = await client.query<{ type: string; last: string }>(
      `SELECT type, max(number) AS last FROM log.event
       WHERE realm_id = $1 AND number > $2 AND source = 'users' AND type <> 'credentials_changed' GROUP BY type`,
      [id, number],
    );
    const last = Math.max(number, ...rows.map((row) => Number(row.last)));
    return { types: rows.map(({ type }) => type), last };
  });

test('a user or bot with a status, whom a permission of the organization names, is deactivated and reactivated', async () => {
  const realm = await openRealm();
  const { owner, member, member2 } = realm;
  const { user_id } = await member.ok('POST', '/bots', { full_name: 'Named', short_name: 'named' });
  const users = [member.user_id, member2.user_id, user_id];
  await owner.ok('PATCH', '/realm', {
    can_create_groups: { new: { direct_members: users, direct_subgroups: [] } },
  });
  for (const id of users) await owner.ok('POST', `/users/${id}/status`, { status_text: 'here' });
  const listed = await listedTypes(realm);
  let { last } = await emittedSince(realm, 0);
  const steps: [name: string, who: Client, method: string, path: string][] = [
    ['deactivate-bot', member, 'DELETE', `/bots/${user_id}`],
    ['reactivate-user', owner, 'POST', `/users/${user_id}/reactivate`],
    ['deactivate-user', owner, 'DELETE', `/users/${member.user_id}`],
    ['reactivate-user', owner, 'POST', `/users/${member.user_id}/reactivate`],
    ['deactivate-self', member2, 'DELETE', '/users/me'],
  ];
  for (const [name, who, method, path] of steps) {
    await who.ok(method, path);
    const emitted = await emittedSince(realm, last);
    last = emitted.last;
    expect(emitted.types, name).toEqual(expect.arrayContaining(['realm_user', 'realm', 'user_status']));
    expect(listed(name), name).toEqual(expect.arrayContaining(emitted.types));
  }
});

test('a member of an organization that limits guests becomes a guest and a member again', async () => {
  const realm = await openRealm();
  const { owner, member, member2 } = realm;
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const members = user_groups.find(({ name }: Json) => name === 'role:members').id;
  await owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: members } });
  await member2.ok('POST', '/users/me/status', { status_text: 'here' });
  const listed = await listedTypes(realm);
  let { last } = await emittedSince(realm, 0);
  for (const role of [600, 400]) {
    await owner.ok('PATCH', `/users/${member.user_id}`, { role });
    const emitted = await emittedSince(realm, last);
    last = emitted.last;
    expect(emitted.types).toContain('user_status');
    expect(listed('update-user')).toEqual(expect.arrayContaining(emitted.types));
  }
});
