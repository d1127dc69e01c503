import { ApiError, createClient, follow } from '@natter/client';
import { exchange, openRealm, type Client as Person, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

/** Realms are found by the Host header, which `fetch` would take from the address. */
const clientOf = (person: Person, failFirst = 0) => {
  let failures = failFirst;
  const viaHost = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const headers = { ...(init.headers as Record<string, string>), host: realm.host };
    const answer = await exchange(String(url), init.method ?? 'GET', String(init.body ?? ''), headers);
    // The request has arrived; only its answer is lost.
    if (failures-- > 0) throw new TypeError('the answer was lost');
    return new Response(JSON.stringify(answer.body), { status: answer.status });
  };
  return createClient({ url: person.url, email: person.email, apiKey: person.api_key, fetch: viaHost });
};

test('sends and follows, with the state first', async () => {
  const [member, owner] = [clientOf(realm.member), clientOf(realm.owner)];
  const feed = await follow(member, { event_types: ['message'], apply_markdown: true });
  expect(feed.state.zulip_feature_level).toBe(421);
  const sent = await owner.sendMessage({ type: 'direct', to: [realm.member.user_id], content: '*hello*' });
  for await (const event of feed) {
    const { message } = event as unknown as { message: { id: number; content: string } };
    expect([message.id, message.content]).toEqual([sent.id, '<p><em>hello</em></p>']);
    break;
  }
});

test('a request whose answer was lost is sent again and has its effect once', async () => {
  const queue = await realm.member2.queue({ event_types: ['message'] });
  const { id } = await clientOf(realm.owner, 2).sendMessage({
    type: 'direct',
    to: [realm.member2.user_id],
    content: 'once',
  });
  const events = await queue.settle();
  expect(events.map((event) => event.message.id)).toEqual([id]);
});

test('a refusal is an ApiError with its code and extra fields', async () => {
  const refused = clientOf(realm.member).getEvents({ queue_id: 'nothing', last_event_id: -1 });
  await expect(refused).rejects.toBeInstanceOf(ApiError);
  await expect(refused).rejects.toMatchObject({
    status: 400,
    code: 'BAD_EVENT_QUEUE_ID',
    extra: { queue_id: 'nothing' },
  });
});
