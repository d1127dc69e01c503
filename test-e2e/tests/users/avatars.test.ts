import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { png, uploadTo } from '../upload.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});
const refused = ({ status, body }: Json): Json => [status, body.code];
const userOf = async (who: Client, id: number, form: Json = {}): Promise<Json> =>
  (await who.ok('GET', `/users/${id}`, form)).user;
const redirectOf = async (who: Client, path: string): Promise<Json> => {
  const { status, headers } = await who.get(`/${path}`);
  return [status, headers.location];
};
const fetched = async (path: string): Promise<Json> => {
  const { status, headers } = await realm.spectator.get(`/${path}`);
  return [status, headers['content-type'], Number(headers['content-length'])];
};

test('an avatar can be uploaded, served, shown with the user and their messages, and removed, with events', async () => {
  const { owner } = realm;
  const person = await realm.person();
  const queue = await realm.guest.queue({ event_types: ['realm_user', 'message'], client_gravatar: true });
  const before = await userOf(owner, person.user_id);
  expect(before).toMatchObject({ avatar_url: null, avatar_version: 1 });
  await person.ok('POST', '/messages', { type: 'direct', to: [owner.user_id], content: 'before' });

  const { status, body } = await uploadTo(person, '/users/me/avatar');
  expect(status).toBe(200);
  const { avatar_url } = body;
  expect(await fetched(avatar_url)).toEqual([200, 'image/png', png.length]);
  const event = await queue.next((one) => one.type === 'realm_user');
  expect(event.person).toEqual({
    user_id: person.user_id,
    avatar_url,
    avatar_url_medium: expect.any(String),
    avatar_source: 'U',
    avatar_version: 2,
  });
  expect(await fetched(event.person.avatar_url_medium)).toEqual([200, 'image/png', png.length]);
  // An uploaded avatar does not depend on `client_gravatar`.
  for (const client_gravatar of [true, false])
    expect(await userOf(owner, person.user_id, { client_gravatar })).toMatchObject({ avatar_url, avatar_version: 2 });
  const own = await person.ok('POST', '/register', { fetch_event_types: ['realm_user'], event_types: [] });
  expect([own.avatar_url, own.avatar_source, own.avatar_url_medium]).toEqual([
    avatar_url,
    'U',
    event.person.avatar_url_medium,
  ]);

  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'pictures' }],
    principals: [person.user_id, realm.guest.user_id],
  });
  const to = { type: 'stream', to: 'pictures', topic: 'pictures', content: 'after' };
  const { id } = await person.ok('POST', '/messages', to);
  expect((await queue.next((one) => one.message?.id === id)).message.avatar_url).toBe(avatar_url);
  const form = { anchor: 'newest', num_before: 2, num_after: 0, narrow: [['dm', person.email]] };
  const { messages } = await owner.ok('GET', '/messages', form);
  expect(messages.map((message: Json) => message.avatar_url)).toEqual([avatar_url]);

  const { avatar_url: drawn } = await person.ok('DELETE', '/users/me/avatar');
  expect((await queue.next((one) => one.type === 'realm_user')).person).toMatchObject({
    avatar_url: drawn,
    avatar_source: 'G',
    avatar_version: 3,
  });
  expect((await fetched(avatar_url))[0]).toBe(404);
  expect(await userOf(owner, person.user_id, { client_gravatar: false })).toMatchObject({ avatar_url: drawn });
  expect(await userOf(owner, person.user_id)).toMatchObject({ avatar_url: null, avatar_version: 3 });
});

test('/avatar redirects to the picture by ID and address, and does not reveal to others whether a user exists', async () => {
  const person = await realm.person();
  const { avatar_url } = (await uploadTo(person, '/users/me/avatar')).body;
  const medium = avatar_url.replace('?', '/medium?');
  for (const who of [person.user_id, person.email]) {
    expect(await redirectOf(realm.member, `/avatar/${who}`)).toEqual([302, avatar_url]);
    expect(await redirectOf(realm.member, `/avatar/${who}/medium`)).toEqual([302, medium]);
  }
  // To all others it appears not to exist.
  for (const path of ['', '/medium']) {
    const [status, location] = await redirectOf(realm.spectator, `/avatar/${person.user_id}${path}`);
    expect([status, location]).toEqual([302, `/user_avatars/drawn/${person.user_id}${path}`]);
    expect((await fetched(location))[1]).toBe('image/png');
    expect((await redirectOf(realm.member, `/avatar/999999${path}`))[1]).toBe(`/user_avatars/drawn/999999${path}`);
  }
});

/** The answer to a client that follows the redirects. */
const shown = async (who: Client, url: string): Promise<Json> => {
  const [status, location] = await redirectOf(who, url);
  return status === 302 ? shown(who, location) : fetched(url);
};

test('every avatar URL leads to a PNG image, and with `-medium.png` at the end of its path to the larger one', async () => {
  const { owner } = realm;
  const [person, plain] = [await realm.person(), await realm.person()];
  const { avatar_url: uploaded } = (await uploadTo(person, '/users/me/avatar')).body;
  const bot = await plain.ok('POST', '/bots', { full_name: 'Plain bot', short_name: 'plain-bot', bot_type: '1' });
  const state = await owner.ok('POST', '/register', { fetch_event_types: ['realm_user'], client_gravatar: false });
  const urlOf = (people: Json[], id: number): string => people.find(({ user_id }) => user_id === id)?.avatar_url;
  const { id } = await plain.ok('POST', '/messages', { type: 'direct', to: [owner.user_id], content: 'hello' });
  const { message } = await owner.ok('GET', `/messages/${id}`);
  const drawn = [
    ...[urlOf(state.realm_users, plain.user_id), urlOf(state.realm_users, bot.user_id), bot.avatar_url],
    ...[state.cross_realm_bots[0].avatar_url, message.avatar_url, '/avatar/unknown?version=1'],
  ];
  expect(urlOf(state.realm_users, person.user_id)).toBe(uploaded);
  for (const [url, is] of [[uploaded, 'uploaded'] as const, ...drawn.map((one) => [one, 'drawn'] as const)]) {
    const standard = await shown(owner, url);
    expect(standard, url).toEqual([200, 'image/png', expect.any(Number)]);
    const medium = await shown(owner, url.replace('?', '-medium.png?'));
    expect(medium, url).toEqual(await shown(owner, url.replace('?', '/medium?')));
    // An uploaded picture has one size.
    if (is === 'uploaded') expect(medium, url).toEqual(standard);
    else expect(medium, url).toEqual([200, 'image/png', expect.toSatisfy((size: number) => size > standard[2])]);
  }
  expect(await redirectOf(owner, `/avatar/${person.user_id}-medium.png`)).toEqual([
    302,
    uploaded.replace('?', '/medium?'),
  ]);
  expect(await redirectOf(owner, `/avatar/${plain.user_id}-medium.png`)).toEqual([
    302,
    `/user_avatars/drawn/${plain.user_id}/medium`,
  ]);
});

test('a missing, invalid or large picture is rejected, and any picture if the realm disables changes', async () => {
  const { member, owner } = realm;
  expect(refused(await member.post('/users/me/avatar'))).toEqual([400, 'BAD_REQUEST']);
  const text = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');
  expect(refused(await uploadTo(member, '/users/me/avatar', {}, { picture: text }))).toEqual([400, 'BAD_IMAGE']);
  const large = Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]);
  expect(refused(await uploadTo(member, '/users/me/avatar', {}, { picture: large }))).toEqual([400, 'BAD_REQUEST']);
  const largest = Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024 - png.length)]);
  expect((await uploadTo(member, '/users/me/avatar', {}, { picture: largest })).status).toBe(200);
  await owner.ok('PATCH', '/realm', { avatar_changes_disabled: true });
  expect(refused(await uploadTo(member, '/users/me/avatar'))).toEqual([400, 'BAD_REQUEST']);
  expect(refused(await member.delete('/users/me/avatar'))).toEqual([400, 'BAD_REQUEST']);
  expect((await uploadTo(owner, '/users/me/avatar')).status).toBe(200);
  await owner.ok('PATCH', '/realm', { avatar_changes_disabled: false });
});

test('a user without a picture has a drawn one, and the URLs of the icon and the logo redirect', async () => {
  const [status, location] = await redirectOf(realm.spectator, `/avatar/${realm.guest.user_id}`);
  expect(status).toBe(302);
  expect((await fetched(location))[1]).toBe('image/png');
  const { icon_url } = (await uploadTo(realm.owner, '/realm/icon')).body;
  const { pathname, search } = new URL(icon_url);
  expect(await redirectOf(realm.spectator, '/api/v1/realm/icon')).toEqual([302, `${pathname}${search}`]);
  expect((await redirectOf(realm.spectator, '/api/v1/realm/logo?night=true'))[0]).toBe(302);
});

test('a bot can be created with a picture, which its owner or an administrator can change', async () => {
  const { member, member2, administrator, owner } = realm;
  const queue = await member.queue({ event_types: ['realm_bot', 'realm_user'], client_gravatar: true });
  const fields = { full_name: 'Painted', short_name: 'painted', bot_type: '2' };
  const { status, body } = await uploadTo(member, '/bots', fields);
  expect([status, (await userOf(owner, body.user_id)).avatar_url]).toEqual([200, body.avatar_url]);
  expect(await fetched(body.avatar_url)).toEqual([200, 'image/png', png.length]);
  const path = `/bots/${body.user_id}`;
  const change = (who: Client, picture = png) => uploadTo(who, path, {}, { picture, method: 'PATCH' });
  const { avatar_url } = (await change(administrator)).body;
  expect(avatar_url).not.toBe(body.avatar_url);
  const isTold = (type: string) => queue.next((one) => one.type === type && one.op === 'update' && seenIn(one));
  const seenIn = ({ bot, person }: Json): boolean => (bot ?? person).avatar_url === avatar_url;
  await isTold('realm_bot');
  expect((await member.ok('GET', '/bots')).bots).toMatchObject([{ full_name: 'Painted', avatar_url }]);
  expect(refused(await change(member2))).toEqual([400, 'BAD_REQUEST']);
  expect(refused(await change(member, Buffer.from('<svg/>')))).toEqual([400, 'BAD_IMAGE']);
  await owner.ok('PATCH', '/realm', { avatar_changes_disabled: true });
  expect(refused(await change(member))).toEqual([400, 'BAD_REQUEST']);
  expect(refused(await uploadTo(member, '/bots', { full_name: 'Late', short_name: 'late' }))).toEqual([
    400,
    'BAD_REQUEST',
  ]);
  expect((await change(administrator)).status).toBe(200);
  await owner.ok('PATCH', '/realm', { avatar_changes_disabled: false });
});
