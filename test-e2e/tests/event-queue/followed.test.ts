import { request } from 'node:http';
import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const send = (who: Client, content: string): Promise<Json> =>
  who.ok('POST', '/messages', { type: 'direct', to: [who.user_id], content });

interface Stream {
  /** `[id, content]` of each of the user's own messages so far. */
  frames(): [number, string][];
  text(): string;
  status: Promise<number>;
  ended: Promise<void>;
}

/** Follows a queue as server-sent events. */
function openStream(who: Client, queueId: string, headers: Record<string, string> = {}): Stream {
  let text = '';
  let answered: (status: number) => void;
  const status = new Promise<number>((resolve) => {
    answered = resolve;
  });
  const ended = new Promise<void>((resolve, reject) => {
    const authorization = authorizationOf(who);
    const outgoing = request(
      `${who.url}/api/v1/events?queue_id=${queueId}&last_event_id=-1`,
      { headers: { host: who.host, authorization, accept: 'text/event-stream', ...headers } },
      (incoming) => {
        answered(incoming.statusCode ?? 0);
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        incoming.on('end', resolve).on('error', reject);
      },
    );
    outgoing.on('error', reject).end();
  });
  const frames = (): [number, string][] =>
    [...text.matchAll(/id: (\d+)\ndata: (.*)\n\n/g)]
      .map((match) => [Number(match[1]), JSON.parse(match[2] ?? '{}').message] as [number, Json])
      .filter(([, message]) => message?.sender_id === who.user_id)
      .map(([id, message]) => [id, message.content]);
  return { frames, text: () => text, status, ended };
}

const contentsOf = (stream: Stream) => stream.frames().map(([, content]) => content);
const types = { event_types: ['message'], fetch_event_types: [] };

describe('server-sent events', () => {
  test('carry the event IDs of the queue, and Last-Event-ID resumes after that ID', async () => {
    const who = await realm.person();
    const { id } = await who.queue(types);
    const first = openStream(who, id);
    expect(await first.status).toBe(200);
    await send(who, 'one');
    await send(who, 'two');
    await expect.poll(() => contentsOf(first)).toEqual(['one', 'two']);
    const ids = first.frames().map(([frame]) => frame);
    let hasEnded = false;
    void first.ended.then(() => {
      hasEnded = true;
    });
    const look = () => who.ok('GET', '/events', { queue_id: id, last_event_id: -1, dont_block: true });
    const own = async (): Promise<number[]> =>
      (await look()).events.flatMap(({ id: number, message }: Json) =>
        message?.sender_id === who.user_id ? number : [],
      );
    await expect.poll(own).toEqual(ids);
    // A newer reader takes over, unless the stream was not waiting at that moment.
    await expect.poll(() => look().then(() => hasEnded)).toBe(true);
    const second = openStream(who, id, { 'last-event-id': String(ids[0]) });
    await send(who, 'three');
    await expect.poll(() => contentsOf(second)).toEqual(['two', 'three']);
    expect(second.frames().every(([frame], index, all) => index === 0 || frame > (all[index - 1]?.[0] ?? 0))).toBe(
      true,
    );
    await who.ok('DELETE', '/events', { queue_id: id });
    await second.ended;
    expect(second.text()).toContain(`event: error\ndata: {"result":"error"`);
    expect(second.text()).toContain('BAD_EVENT_QUEUE_ID');
  });

  test('of a missing queue return an error with status 400', async () => {
    const stream = openStream(realm.member, 'nothing');
    expect(await stream.status).toBe(400);
    await stream.ended;
    expect(JSON.parse(stream.text())).toMatchObject({ code: 'BAD_EVENT_QUEUE_ID', queue_id: 'nothing' });
  });
});

describe('a held poll', () => {
  test('ends when a second poll arrives or its queue is deleted', async () => {
    const who = await realm.person();
    const queues = await Promise.all(
      Array.from({ length: 8 }, () => who.queue({ event_types: ['realm_emoji'], fetch_event_types: [] })),
    );
    // A gateway that begins to read the log of the realm may learn of the deletion before it holds a poll.
    await Promise.all(queues.map((queue) => queue.poll(true)));
    const ends = queues.map(async ({ id }) => {
      const poll = () => who.get('/events', { queue_id: id, last_event_id: -1 });
      const [one, two] = [poll(), poll()];
      const { answer, left } = await Promise.race([
        one.then((answer) => ({ answer, left: two })),
        two.then((answer) => ({ answer, left: one })),
      ]);
      expect([answer.status, answer.body.events]).toEqual([200, []]);
      await who.ok('DELETE', '/events', { queue_id: id });
      const gone = { code: 'BAD_EVENT_QUEUE_ID', queue_id: id };
      // The poll had begun before; only the next one fails.
      expect(await left).toMatchObject({ status: 200, body: { events: [], queue_id: id } });
      expect((await poll()).body).toMatchObject(gone);
      expect((await who.delete('/events', { queue_id: id })).body).toMatchObject(gone);
    });
    await Promise.all(ends);
  });
});

describe('a poll without a queue', () => {
  test('creates a queue with the given parameters if it does not block', async () => {
    const who = await realm.person();
    const form = { dont_block: true, event_types: ['message', 'presence'], apply_markdown: true };
    const made = await who.ok('GET', '/events', {
      ...form,
      simplified_presence_events: true,
      bulk_message_deletion: true,
    });
    expect(made).toMatchObject({ events: [], queue_id: expect.any(String), last_event_id: -1 });
    await send(who, 'hello');
    await who.ok('POST', '/users/me/presence', { status: 'active' });
    const seen: Json[] = [];
    await expect
      .poll(async () => {
        const { events } = await who.ok('GET', '/events', {
          queue_id: made.queue_id,
          last_event_id: seen.at(-1)?.id ?? -1,
          dont_block: true,
        });
        seen.push(...events);
        return seen.map((event) => event.type).filter((type) => type === 'presence');
      })
      .toEqual(['presence']);
    expect(seen.find((event) => event.message?.content === '<p>hello</p>')).toBeDefined();
    expect(seen.find((event) => event.type === 'presence').presences[who.user_id].active_timestamp).toBeGreaterThan(0);
  });

  test('is rejected if it blocks, and so is a poll without a cursor', async () => {
    const nameless = await realm.member.get('/events', { last_event_id: -1 });
    expect([nameless.status, nameless.body.code]).toEqual([400, 'BAD_REQUEST']);
    const { id } = await realm.member.queue(types);
    const blind = await realm.member.get('/events', { queue_id: id });
    expect([blind.status, blind.body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});

describe('a spectator', () => {
  test('gets 401 in a realm without spectator access', async () => {
    const { status, body } = await realm.spectator.post('/register', { fetch_event_types: ['realm'] });
    expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  test('gets the web-public state and no queue in a realm with spectator access', async () => {
    const open = await openRealm();
    const { spectator, owner, member } = open;
    await owner.ok('PATCH', '/realm', { enable_spectator_access: true });
    await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }], is_web_public: true });
    await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'closed' }] });
    await member.ok('POST', '/users/me/presence', { status: 'active' });
    for (const refused of [
      { client_gravatar: true },
      { include_subscribers: true },
      { include_subscribers: 'partial' },
    ]) {
      const { status, body } = await spectator.post('/register', refused);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    }
    const state = await spectator.ok('POST', '/register');
    expect(state).toMatchObject({
      queue_id: null,
      last_event_id: -1,
      zulip_feature_level: expect.any(Number),
      subscriptions: [],
      unsubscribed: [],
      presences: {},
      unread_msgs: { count: 0, pms: [], streams: [], huddles: [], mentions: [] },
      alert_words: [],
      muted_users: [],
      starred_messages: [],
      drafts: [],
      saved_snippets: [],
      recent_private_conversations: [],
      user_topics: [],
    });
    expect(state.streams.map((stream: Json) => stream.name)).toEqual(['open']);
    expect(JSON.stringify(state)).not.toContain('closed');
    expect(JSON.stringify(state)).not.toContain(owner.email);
    const poll = await spectator.get('/events', { queue_id: 'any', last_event_id: -1 });
    expect([poll.status, poll.body.code]).toEqual([401, 'UNAUTHORIZED']);
  });
});
