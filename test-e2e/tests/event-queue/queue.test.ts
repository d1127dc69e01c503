import { openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

describe('a queue', () => {
  test('gets what happens after its register, in the order it happened', async () => {
    const queue = await realm.member.queue({ event_types: ['message'] });
    for (const content of ['one', 'two'])
      await realm.member2.ok('POST', '/messages', { type: 'direct', to: [realm.member.user_id], content });
    await queue.next((event) => event.type === 'message' && event.message.content.includes('two'));
    // A newcomer's welcome may still be on its way.
    const heard = queue.seen.filter((event) => event.message?.sender_id === realm.member2.user_id);
    expect(heard.map((event) => event.message.content)).toEqual(['<p>one</p>', '<p>two</p>'].map(source));
  });

  test('of somebody else answers like one that does not exist', async () => {
    const { id } = await realm.member.queue();
    const foreign = await realm.owner.get('/events', { queue_id: id, last_event_id: -1, dont_block: true });
    const unknown = await realm.owner.get('/events', { queue_id: 'nothing', last_event_id: -1, dont_block: true });
    expect([foreign.status, foreign.body.code, foreign.body.queue_id]).toEqual([400, 'BAD_EVENT_QUEUE_ID', id]);
    expect([unknown.status, unknown.body.code]).toEqual([400, 'BAD_EVENT_QUEUE_ID']);
  });
});

describe('a realm', () => {
  test('knows nothing of the people of another', async () => {
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

/** Without apply_markdown a queue gives the source. */
const source = (html: string): string => html.replace(/<\/?p>/g, '');

test('a queue that is opened by polling is told what was ignored', async () => {
  const { queue_id, ignored_parameters_unsupported } = await realm.member.ok('GET', '/events', {
    dont_block: true,
    wrong: 1,
  });
  expect([typeof queue_id, ignored_parameters_unsupported]).toEqual(['string', ['wrong']]);
});
