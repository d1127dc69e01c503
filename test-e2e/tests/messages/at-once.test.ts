import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let members: number;
let nobody: number;
beforeAll(async () => {
  realm = await openRealm();
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  const idOf = (name: string): number => user_groups.find((group: Json) => group.name === name).id;
  [members, nobody] = [idOf('role:members'), idOf('role:nobody')];
});

const direct = (content = 'x') =>
  realm.member.post('/messages', { type: 'direct', to: [realm.member2.user_id], content });

test('a permission that the realm grants again applies right after the response, also to scheduled messages', async () => {
  const scheduled = () =>
    realm.member.post('/scheduled_messages', {
      type: 'direct',
      to: [realm.member2.user_id],
      content: 'x',
      scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 600,
    });
  for (let round = 0; round < 4; round++) {
    await realm.owner.ok('PATCH', '/realm', { direct_message_permission_group: { new: nobody } });
    expect([(await direct()).status, (await scheduled()).status]).toEqual([400, 400]);
    await realm.owner.ok('PATCH', '/realm', { direct_message_permission_group: { new: members } });
    expect([(await direct()).status, (await scheduled()).status]).toEqual([200, 200]);
  }
});

test('an edit history that the realm hides is omitted right after the change', async () => {
  const { id } = (await direct('before')).body;
  await realm.member.ok('PATCH', `/messages/${id}`, { content: 'after' });
  const read = async (): Promise<Json[]> => [
    (await realm.member.ok('GET', `/messages/${id}`)).message,
    (await realm.member.ok('GET', '/messages', { anchor: id, num_before: 0, num_after: 0 })).messages[0],
  ];
  for (let round = 0; round < 4; round++) {
    for (const message of await read()) expect(message.edit_history).toHaveLength(1);
    await realm.owner.ok('PATCH', '/realm', { message_edit_history_visibility_policy: 'none' });
    for (const message of await read()) expect(message.edit_history).toBeUndefined();
    await realm.owner.ok('PATCH', '/realm', { message_edit_history_visibility_policy: 'all' });
  }
});

test('each name of the empty topic finds the empty topic only', async () => {
  const { member } = realm;
  await member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'empty topics' }] });
  const { stream_id } = await member.ok('GET', '/get_stream_id', { stream: 'empty topics' });
  const send = async (topic: string): Promise<number> =>
    (await member.ok('POST', '/messages', { type: 'channel', to: stream_id, topic, content: 'x' })).id;
  const [id] = [await send(''), await send('other')];
  for (const operand of ['', '(no topic)', 'general chat']) {
    const narrow = [
      { operator: 'channel', operand: stream_id },
      { operator: 'topic', operand },
    ];
    const { messages } = await member.ok('GET', '/messages', {
      anchor: 'newest',
      num_before: 10,
      num_after: 0,
      narrow,
    });
    expect(messages.map((message: Json) => message.id)).toEqual([id]);
  }
  await realm.owner.ok('POST', `/streams/${stream_id}/delete_topic`, { topic_name: '(no topic)' });
  expect((await member.get(`/messages/${id}`)).status).toBe(400);
});

test('omitted fields of a reaction follow from its emoji name, and given fields must match it', async () => {
  const { id } = (await direct()).body;
  const react = async (form: Json): Promise<number> =>
    (await realm.member.post(`/messages/${id}/reactions`, form)).status;
  expect(await react({ emoji_name: 'smile', reaction_type: 'bogus' })).toBe(400);
  expect(await react({ emoji_name: 'smile', reaction_type: 'realm_emoji' })).toBe(400);
  expect(await react({ emoji_name: 'zulip', emoji_code: 'zulip' })).toBe(200);
  expect(await react({ emoji_name: 'smile' })).toBe(200);
});

test('a mention of a group does not include a deactivated subgroup', async () => {
  const { owner, member, member2 } = realm;
  const create = async (name: string, form: Json): Promise<number> =>
    (await owner.ok('POST', '/user_groups/create', { name, description: '', ...form })).group_id;
  const inner = await create('inner', { members: [member2.user_id] });
  const outer = await create('outer', { members: [member.user_id], subgroups: [inner] });
  await owner.ok('POST', `/user_groups/${outer}/deactivate`);
  await owner.ok('POST', `/user_groups/${inner}/deactivate`);
  await owner.ok('PATCH', `/user_groups/${outer}`, { deactivated: false });
  const to = [member.user_id, member2.user_id];
  const { id } = await owner.ok('POST', '/messages', { type: 'direct', to, content: '@*outer*' });
  const flagsOf = async (who: typeof member): Promise<string[]> =>
    (await who.ok('GET', `/messages/${id}`)).message.flags;
  expect(await flagsOf(member)).toContain('mentioned');
  expect(await flagsOf(member2)).not.toContain('mentioned');
});

test('the avatar URL is null only for clients that can see the email, also with all_public_streams', async () => {
  const { administrator, member, member2 } = realm;
  await member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'pictures' }] });
  const form = { all_public_streams: true, client_gravatar: true, event_types: ['message'] };
  const queues = [await administrator.queue(form), await member2.queue(form)];
  const sent = async (): Promise<(string | null)[]> => {
    const { id } = await member.ok('POST', '/messages', { type: 'channel', to: 'pictures', topic: 't', content: 'x' });
    return Promise.all(
      queues.map(async (queue) => {
        const { message } = await queue.next((event) => event.message?.id === id);
        return message.avatar_url;
      }),
    );
  };
  expect(await sent()).toEqual([null, null]);
  await member.ok('PATCH', '/settings', { email_address_visibility: 3 });
  // Sends don't wait for events of other services; reads do.
  await member.ok('GET', '/messages', { anchor: 'newest', num_before: 1, num_after: 0 });
  expect(await sent()).toEqual([null, expect.any(String)]);
});
