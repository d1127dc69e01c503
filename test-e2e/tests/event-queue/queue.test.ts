import { connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm({ havePasswords: true });
});

describe('a queue', () => {
  test('receives the events after its register in their order', async () => {
    const queue = await realm.member.queue({ event_types: ['message'] });
    for (const content of ['one', 'two'])
      await realm.member2.ok('POST', '/messages', { type: 'direct', to: [realm.member.user_id], content });
    await queue.next((event) => event.type === 'message' && event.message.content.includes('two'));
    // The welcome message of a new user may still arrive.
    const heard = queue.seen.filter((event) => event.message?.sender_id === realm.member2.user_id);
    expect(heard.map((event) => event.message.content)).toEqual(['<p>one</p>', '<p>two</p>'].map(source));
  });

  test('that is registered twice under one key continues from the position of either response', async () => {
    const { member, member2 } = realm;
    const say = (content: string) => member2.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content });
    const form = { event_types: ['message'], fetch_event_types: [] };
    const register = async () =>
      (await member.patiently('POST', '/register', form, { 'idempotency-key': 'a queue' })).body;
    const contentsAfter = async ({ queue_id, last_event_id }: Json) => {
      const { events } = await member.ok('GET', '/events', { queue_id, last_event_id, dont_block: true });
      return events
        .filter((event: Json) => event.message?.sender_id === member2.user_id)
        .map((event: Json) => event.message.content);
    };
    const first = await register();
    await say('between');
    const second = await register();
    await say('after');
    expect(second.queue_id).toBe(first.queue_id);
    await expect.poll(() => contentsAfter(first)).toEqual(['<p>between</p>', '<p>after</p>'].map(source));
    await expect.poll(() => contentsAfter(second)).toEqual([source('<p>after</p>')]);
  });

  test('of another user returns the same error as a missing queue', async () => {
    const { id } = await realm.member.queue();
    const foreign = await realm.owner.get('/events', { queue_id: id, last_event_id: -1, dont_block: true });
    const unknown = await realm.owner.get('/events', { queue_id: 'nothing', last_event_id: -1, dont_block: true });
    expect([foreign.status, foreign.body.code, foreign.body.queue_id]).toEqual([400, 'BAD_EVENT_QUEUE_ID', id]);
    expect([unknown.status, unknown.body.code]).toEqual([400, 'BAD_EVENT_QUEUE_ID']);
  });
});

describe('a realm', () => {
  test('does not list the users of another realm or accept their keys', async () => {
    const other = await openRealm();
    const { body } = await realm.owner.get('/users');
    const emails = body.members.map((member: { email: string }) => member.email);
    expect(emails).toContain(realm.member.email);
    expect(emails).not.toContain(other.member.email);
    const { status } = await new (Object.getPrototypeOf(other.owner).constructor)(
      { url: realm.owner.url, host: realm.host },
      other.owner,
    ).get('/users/me');
    expect(status).toBe(401);
  });
});

/** Without apply_markdown a queue delivers the source. */
const source = (html: string): string => html.replace(/<\/?p>/g, '');

test('a poll that creates a queue returns the ignored parameters', async () => {
  const { queue_id, ignored_parameters_unsupported } = await realm.member.ok('GET', '/events', {
    dont_block: true,
    wrong: 1,
  });
  expect([typeof queue_id, ignored_parameters_unsupported]).toEqual(['string', ['wrong']]);
});

test('a queue that a reactivated user registers outlives the late end of their earlier queues', async () => {
  const person = await realm.person();
  const earlier = await person.ok('POST', '/register', { event_types: ['message'] });
  const later = await connected(async (holder) => {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM event_queue.consumer WHERE realm_id = $1 FOR UPDATE', [realm.id]);
    await realm.owner.ok('DELETE', `/users/${person.user_id}`);
    await realm.owner.ok('POST', `/users/${person.user_id}/reactivate`);
    const login = { username: person.email, password: person.password };
    person.api_key = (await realm.spectator.ok('POST', '/fetch_api_key', login)).api_key;
    const registered = await person.ok('POST', '/register', { event_types: ['message'] });
    await holder.query('COMMIT');
    return registered;
  });
  const poll = async ({ queue_id, last_event_id }: Json): Promise<number> =>
    (await person.get('/events', { queue_id, last_event_id, dont_block: true })).status;
  await expect.poll(() => poll(earlier)).toBe(400);
  expect(await poll(later)).toBe(200);
});
