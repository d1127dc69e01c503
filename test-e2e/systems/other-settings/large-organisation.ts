import { createDatabase, sql } from '@natter/database';
import { expect, test } from 'vitest';
import type { Answer, Credentials } from '../../api.ts';
import { requestOnce } from '../../patience.ts';
import { system } from './system.ts';

type Who = Credentials & { user_id: number };

/** A new connection each time, which reaches any gateway. */
async function ok(who: Credentials, method: string, path: string, form: Record<string, unknown> = {}): Promise<Answer> {
  const { status, body } = await requestOnce(
    system.url,
    { ...who, headers: { connection: 'close' } },
    `${method} ${path}`,
    form,
  );
  expect([status, body.msg]).toEqual([200, '']);
  return body;
}

/** A thousand users, copied in the database: messages and keys are not needed. */
async function hireAThousand(): Promise<void> {
  const url = system.servers.postgresUrl;
  const database = createDatabase({ url, maxConnections: 1, name: 'test', onError: () => undefined });
  await database.run(sql.unsafe`
    INSERT INTO users.account (realm_id, email, full_name, role, is_active, settings)
    SELECT r.id, 'crowd' || n || '@natter.example', 'Crowd ' || n || ' é', 400, n % 7 > 0,
      CASE WHEN n % 5 = 0 THEN '{"email_address_visibility": 3}'::jsonb ELSE '{}' END
    FROM users.realm r, generate_series(1, 1000) n WHERE r.is_default`);
  await database.close();
}

async function newcomer(owner: Who): Promise<Who> {
  const account = { email: 'colleague@natter.example', password: 'a rather good password', full_name: 'Colleague' };
  const { user_id } = await ok(owner, 'POST', '/users', account);
  const login = { username: account.email, password: account.password };
  const { api_key } = await ok({ email: '', api_key: '' }, 'POST', '/fetch_api_key', login);
  return { user_id, email: account.email, api_key };
}

const byId = (a: Answer, b: Answer): number => a.user_id - b.user_id;

/** Compares the users in a register with the list of users, which is read and serialized by other code. */
async function expectSamePeople(who: Who, client_gravatar: boolean): Promise<Answer[]> {
  const form = { fetch_event_types: ['realm_user'], event_types: [], client_gravatar };
  const { members } = await ok(who, 'GET', '/users', { include_custom_profile_fields: true, client_gravatar });
  const { realm_users, realm_non_active_users } = await ok(who, 'POST', '/register', form);
  expect(realm_users.every((user: Answer) => user.is_active)).toBe(true);
  expect(realm_non_active_users.some((user: Answer) => user.is_active)).toBe(false);
  expect([...realm_users, ...realm_non_active_users].sort(byId)).toEqual([...members].sort(byId));
  return members;
}

test('a register of a large organization returns current users, and to each reader only the fields that they may see', async () => {
  await hireAThousand();
  const { owner, member } = system.people as { owner: Who; member: Who };
  const everywhere = async (): Promise<Answer[]> => {
    const lists = await Promise.all(
      [owner, member, owner, member].map((who, index) => expectSamePeople(who, index % 2 === 0 || index > 2)),
    );
    return lists[0] as Answer[];
  };
  const people = await everywhere();
  expect(people.length).toBeGreaterThan(1_000);
  const crowd = people.filter(({ full_name, is_active }) => is_active && full_name.startsWith('Crowd'));
  const [first, middle, last] = [crowd[0], crowd[400], crowd.at(-1)] as [Answer, Answer, Answer];

  await ok(owner, 'PATCH', `/users/${middle.user_id}`, { full_name: 'Renamed in the middle' });
  expect((await everywhere()).find(({ user_id }) => user_id === middle.user_id)?.full_name).toBe(
    'Renamed in the middle',
  );
  await ok(owner, 'DELETE', `/users/${first.user_id}`);
  expect((await everywhere()).find(({ user_id }) => user_id === first.user_id)?.is_active).toBe(false);
  const { id } = await ok(owner, 'POST', '/realm/profile_fields', { name: 'Favourite', field_type: 1 });
  await ok(owner, 'PATCH', `/users/${last.user_id}`, { profile_data: [{ id, value: 'tea' }] });
  expect((await everywhere()).find(({ user_id }) => user_id === last.user_id)?.profile_data).toEqual({
    [id]: { value: 'tea', rendered_value: '<p>tea</p>' },
  });
  await ok(owner, 'DELETE', `/realm/profile_fields/${id}`);
  expect((await everywhere()).find(({ user_id }) => user_id === last.user_id)?.profile_data).toEqual({});
  // The address is visible to its owner, but not to users of the same role.
  await ok(member, 'PATCH', '/settings', { email_address_visibility: 4 });
  const colleague = await newcomer(owner);
  const addresses: unknown[] = [];
  for (const who of [owner, member, colleague])
    addresses.push(
      (await expectSamePeople(who, true)).find(({ user_id }) => user_id === member.user_id)?.delivery_email,
    );
  expect(addresses).toEqual([null, member.email, null]);
});
