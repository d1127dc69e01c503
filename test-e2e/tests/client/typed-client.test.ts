import { ApiError, type ChatEvent, createClient, follow, type Gap, type Position } from '@natter/client';
import { exchange, openRealm, type Client as Person, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { onePixel } from '../../one-pixel.ts';
import { Browser } from '../browser.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm({ havePasswords: true });
});

/** Realms are selected by the Host header, which `fetch` derives from the address. `isDown`: no request arrives. */
const clientOf = (person: Person, { failFirst = 0, isDown = (): boolean => false, retryForMs = 60_000 } = {}) => {
  let failures = failFirst;
  const viaHost = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    if (isDown()) throw new TypeError('no connection');
    const headers: Record<string, string> = { ...(init.headers as Record<string, string>), host: realm.host };
    const form = init.body instanceof FormData ? new Response(init.body) : undefined;
    if (form) headers['content-type'] = form.headers.get('content-type') ?? '';
    const body = form ? new Uint8Array(await form.arrayBuffer()) : String(init.body ?? '');
    const answer = await Promise.race([
      exchange(String(url), init.method ?? 'GET', body, headers),
      new Promise<never>((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted')))),
    ]);
    // The request has arrived; only its answer is lost.
    if (failures-- > 0 || isDown()) throw new TypeError('the answer was lost');
    return new Response(JSON.stringify(answer.body), { status: answer.status });
  };
  return createClient({ url: person.url, email: person.email, apiKey: person.api_key, fetch: viaHost, retryForMs });
};

const idOf = (event: ChatEvent | Gap | undefined): number | undefined =>
  event?.type === 'message' ? event.message.id : undefined;

/** The next elements of a feed. */
async function take<T>(feed: AsyncIterator<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const next = await feed.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

test('the client sends a message, and a feed starts with the state', async () => {
  const [member, owner] = [clientOf(realm.member), clientOf(realm.owner)];
  const feed = await follow(member, { event_types: ['message'], apply_markdown: true });
  expect(feed.state.zulip_feature_level).toBe(421);
  const sent = await owner.sendMessage({ type: 'direct', to: [realm.member.user_id], content: '*hello*' });
  for await (const event of feed) {
    if (event.type !== 'message') throw new Error(event.type);
    expect([event.message.id, event.message.content]).toEqual([sent.id, '<p><em>hello</em></p>']);
    break;
  }
});

test('a request whose response is lost is sent again and has its effect once', async () => {
  const queue = await realm.member2.queue({ event_types: ['message'] });
  const { id } = await clientOf(realm.owner, { failFirst: 2 }).sendMessage({
    type: 'direct',
    to: [realm.member2.user_id],
    content: 'once',
  });
  const events = await queue.settle();
  expect(events.map((event) => event.message.id)).toEqual([id]);
});

test('a channel is found by a name that consists of digits', async () => {
  const member = clientOf(realm.member);
  const idNamed = async (name: string) => (await member.getStreamId({ stream: name })).stream_id;
  await member.subscribe({ subscriptions: [{ name: 'letters' }] });
  const digits = String(await idNamed('letters'));
  await member.subscribe({ subscriptions: [{ name: digits }] });
  const { id } = await member.sendMessage({ type: 'channel', to: digits, topic: 'numbers', content: 'here' });
  const { messages } = await member.getMessages({ message_ids: [id] });
  expect(messages).toMatchObject([{ display_recipient: digits, stream_id: await idNamed(digits) }]);
  // If a parameter can only be a number, a text with its digits has the same effect.
  const page = await member.getMessages({ anchor: String(id), num_before: 0, num_after: 0 });
  expect(page.messages.map((message) => message.id)).toEqual([id]);
});

test('an error response is an ApiError with its code and extra fields', async () => {
  const refused = clientOf(realm.member).getEvents({ queue_id: 'nothing', last_event_id: -1 });
  await expect(refused).rejects.toBeInstanceOf(ApiError);
  await expect(refused).rejects.toMatchObject({
    status: 400,
    code: 'BAD_EVENT_QUEUE_ID',
    extra: { queue_id: 'nothing' },
  });
});

describe('a read with a list that is longer than the headers of a request may be', () => {
  /** Ids of objects that do not exist. */
  const unknown = Array.from({ length: 2_000 }, (_, index) => 1_000_000_000 + index);
  const ids = <T extends object>(key: keyof T, list: readonly T[]) => list.map((one) => one[key]);

  test('is answered to a key', async () => {
    const member = clientOf(realm.member);
    const { id } = await member.sendMessage({ type: 'direct', to: [realm.member.user_id], content: 'listed' });
    const users = await member.getUsers({ user_ids: [...unknown, realm.owner.user_id] });
    expect(ids('user_id', users.members)).toEqual([realm.owner.user_id]);
    const { messages } = await member.getMessages({ message_ids: [...unknown, id] });
    expect(ids('id', messages)).toEqual([id]);
    const narrow = [{ operator: 'is', operand: 'dm' }];
    const matched = await member.matchNarrow({ msg_ids: [...unknown, id], narrow });
    expect(Object.keys(matched.messages)).toEqual([String(id)]);
    const kept = Object.fromEntries(unknown.slice(0, 900).map((number) => [`key number ${number}`, 'value']));
    await member.updateBotStorage({ storage: kept });
    expect((await member.getBotStorage({ keys: Object.keys(kept) })).storage).toEqual(kept);
  });

  test('is answered to a session', async () => {
    const browser = new Browser(realm.spectator);
    await browser.login(realm.member.email, realm.member.password);
    const cookie = `sessionid=${browser.session}; csrftoken=${browser.token}`;
    const viaSession = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
      const sent = { ...(init.headers as Record<string, string>), host: realm.host, cookie, origin: browser.origin };
      const { body, status } = await exchange(String(url), init.method ?? 'GET', String(init.body ?? ''), sent);
      return Response.json(body, { status });
    };
    const client = createClient({
      url: realm.spectator.url,
      session: { csrfToken: () => browser.token },
      fetch: viaSession,
    });
    const { members } = await client.getUsers({ user_ids: [...unknown, realm.owner.user_id] });
    expect(ids('user_id', members)).toEqual([realm.owner.user_id]);
  });
});

test('a feed continues after an outage that is longer than the retry period', async () => {
  let isDown = false;
  const member = clientOf(realm.member, { isDown: () => isDown, retryForMs: 0 });
  const owner = clientOf(realm.owner);
  const send = () => owner.sendMessage({ type: 'direct', to: [realm.member.user_id], content: 'on' });
  const feed = (await follow(member, { event_types: ['message'] }))[Symbol.asyncIterator]();
  const first = await send();
  expect(idOf((await take(feed, 1))[0])).toBe(first.id);
  const next = take(feed, 2);
  isDown = true;
  const second = await send();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  isDown = false;
  const third = await send();
  expect((await next).map(idOf)).toEqual([second.id, third.id]);
  await feed.return?.();
});

test('another process resumes a feed after the last handled event', async () => {
  const [member, owner] = [clientOf(realm.member), clientOf(realm.owner)];
  const send = () => owner.sendMessage({ type: 'direct', to: [realm.member.user_id], content: 'again' });
  const positions: Position[] = [];
  const options = { keepQueue: true, onPosition: (position: Position) => positions.push(position) };
  const sent = [];
  const first = await follow(member, { event_types: ['message'] }, options);
  for (let count = 0; count < 3; count++) sent.push((await send()).id);
  // The loop is left while the second event is handled, so the second event does not count as handled.
  const seen = [];
  for await (const event of first) {
    seen.push(idOf(event));
    if (seen.length === 2) break;
  }
  expect(seen).toEqual(sent.slice(0, 2));
  expect(positions).toHaveLength(1);
  const resumed = await follow(clientOf(realm.member), {}, { resumeFrom: positions[0] as Position });
  expect(resumed.state).toBeUndefined();
  const rest = resumed[Symbol.asyncIterator]();
  expect((await take(rest, 2)).map(idOf)).toEqual(sent.slice(1));
  await rest.return?.();
  const { queue_id } = positions[0] as Position;
  await expect(member.getEvents({ queue_id, last_event_id: -1 })).rejects.toMatchObject({ code: 'BAD_EVENT_QUEUE_ID' });
});

test('a feed that is aborted while an event is handled ends after the event, whose position is known', async () => {
  const [member, owner] = [clientOf(realm.member), clientOf(realm.owner)];
  const ending = new AbortController();
  const positions: Position[] = [];
  const options = { signal: ending.signal, onPosition: (position: Position) => void positions.push(position) };
  const feed = await follow(member, { event_types: ['message'] }, options);
  const sent = [];
  for (let count = 0; count < 3; count++)
    sent.push((await owner.sendMessage({ type: 'direct', to: [realm.member.user_id], content: 'last' })).id);
  const seen = [];
  for await (const event of feed) {
    seen.push(idOf(event));
    if (seen.length === 2) ending.abort();
  }
  expect(seen).toEqual(sent.slice(0, 2));
  expect(positions).toHaveLength(2);
});

test('a feed reports an ended queue as a gap with the new state, and continues', async () => {
  const [member, owner] = [clientOf(realm.member), clientOf(realm.owner)];
  const feed = await follow(member, { event_types: ['message'], fetch_event_types: ['message'] });
  const events = feed[Symbol.asyncIterator]();
  await member.deleteQueue({ queue_id: feed.position.queue_id });
  const missed = await owner.sendMessage({ type: 'direct', to: [realm.member.user_id], content: 'missed' });
  const [gap] = await take(events, 1);
  if (gap?.type !== 'gap') throw new Error(gap?.type);
  expect(gap.state.max_message_id).toBe(missed.id);
  const next = take(events, 1);
  const sent = await owner.sendMessage({ type: 'direct', to: [realm.member.user_id], content: 'seen' });
  expect((await next).map(idOf)).toEqual([sent.id]);
  await events.return?.();
});

test('an abort signal ends a waiting feed and deletes its queue', async () => {
  const member = clientOf(realm.member);
  const abort = new AbortController();
  const feed = await follow(member, { event_types: ['message'] }, { signal: abort.signal });
  setTimeout(() => abort.abort(), 100);
  for await (const _ of feed) throw new Error('there is no event');
  const { queue_id } = feed.position;
  await expect(member.getEvents({ queue_id, last_event_id: -1 })).rejects.toMatchObject({ code: 'BAD_EVENT_QUEUE_ID' });
});

test('a feed rejects if its API key is revoked', async () => {
  const person = await realm.person();
  const feed = (await follow(clientOf(person), { event_types: ['message'] }))[Symbol.asyncIterator]();
  const next = feed.next();
  await person.ok('POST', '/users/me/api_key/regenerate');
  await expect(next).rejects.toMatchObject({ status: 401 });
});

test('the client uploads a file and a picture', async () => {
  const member = clientOf(realm.member);
  const { url, filename } = await member.uploadFile({ file: new File(['some text'], 'notes.txt') });
  expect(filename).toBe('notes.txt');
  expect((await realm.member.get(`/${url}`)).body).toBe('some text');
  await clientOf(realm.owner).addRealmEmoji({ emoji_name: 'dot', file: new Blob([onePixel], { type: 'image/png' }) });
});
