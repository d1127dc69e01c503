import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { type Answer, request } from '../api.ts';
import type { Person, Sent } from './client.ts';
import { nameOf, registration, type Shown, viewOfRegister, type Watcher } from './watcher.ts';

const settleMs = 30_000;
/** Notices of the system may have the same text. */
const isOfLoad = / at \d+/;

/**
 * Lists the differences after a fault, when no request is running. The state of each watcher must be equal to a fresh
 * register, to the record, and to the events of its queue when they are read again from the record.
 */
export async function compare(
  { url, redisUrl }: { url: string; redisUrl: string },
  watchers: Watcher[],
  { owner, sent }: { owner: Person; sent: Map<number, Sent> },
): Promise<string[]> {
  const content = `end ${Math.random()} at ${Date.now()}`;
  const form = { type: 'channel', to: 'general', topic: 'end', content };
  const { status, body } = await repeated(() =>
    request(url, { ...owner, headers: { 'idempotency-key': content } }, 'POST /messages', form),
  );
  if (status !== 200) return [`the last message was refused: ${status} ${JSON.stringify(body)}`];
  sent.set(body.id, { by: -1, content });
  // Events come in the order of the log: who has the last one has all.
  for (const end = Date.now() + settleMs; Date.now() < end; await pause(50))
    if (watchers.every(({ lost, messages }) => lost || messages.has(body.id))) break;
  const problems: string[] = [];
  for (const [index, watcher] of watchers.entries()) {
    const say = (text: string): void => void problems.push(`watcher ${index}: ${text}`);
    if (watcher.lost) say(`lost its queue: ${watcher.lost}`);
    else if (!watcher.messages.has(body.id)) say('did not get the last message');
    else {
      for (const text of await settled(() => compareWithRegister(url, watcher))) say(text);
      for (const text of await settled(() => compareWithFeed(url, watcher))) say(text);
    }
  }
  await forgetLog(redisUrl);
  for (const [index, watcher] of watchers.entries())
    if (!watcher.lost)
      await watcher.apart(() => compareWithReplay(url, watcher, (text) => problems.push(`watcher ${index}: ${text}`)));
  problems.push(...compareWithSent(watchers, sent));
  return problems;
}

async function compareWithRegister(url: string, watcher: Watcher): Promise<string[]> {
  const { status, body } = await repeated(() => request(url, watcher.who, 'POST /register', registration));
  if (status !== 200) return [`fresh register: ${status} ${JSON.stringify(body)}`];
  await request(url, watcher.who, 'DELETE /events', { queue_id: body.queue_id });
  const [fresh, followed] = [viewOfRegister(body), watcher.view()];
  return (Object.keys(fresh) as (keyof typeof fresh)[])
    .filter((part) => !isDeepStrictEqual(plain(fresh[part]), plain(followed[part])))
    .map((part) => `${part} differ from a fresh register: ${difference(plain(fresh[part]), plain(followed[part]))}`);
}

/** Consumers may still be at work on the last events: a difference counts that stays. */
async function settled(find: () => Promise<string[]>): Promise<string[]> {
  for (const end = Date.now() + settleMs; ; await pause(500)) {
    const problems = await find();
    if (problems.length === 0 || Date.now() > end) return problems;
  }
}

/** Messages since the first one of the round. */
async function compareWithFeed(url: string, watcher: Watcher): Promise<string[]> {
  const first = Math.min(...watcher.messages.keys());
  const fresh: Shown[] = [];
  for (let anchor = first - 1; ; ) {
    const form = { anchor, include_anchor: false, num_before: 0, num_after: 1_000, apply_markdown: false };
    const { status, body } = await repeated(() => request(url, watcher.who, 'GET /messages', form));
    if (status !== 200) return [`feed: ${status} ${JSON.stringify(body)}`];
    for (const message of body.messages)
      if (watcher.messages.has(message.id) || !watcher.absences.cover(message.stream_id, message.id))
        fresh.push(shownOf(message));
    anchor = body.messages.at(-1)?.id ?? anchor;
    if (body.found_newest) break;
  }
  const order = [...watcher.messages.keys()];
  const expected = fresh.map(({ id }) => id);
  const problems = isDeepStrictEqual(order, expected)
    ? []
    : [`${order.length} messages came, the feed has ${expected.length}, or they came in another order`];
  for (const message of fresh) {
    const known = watcher.messages.get(message.id);
    if (known && !isDeepStrictEqual(known, message))
      problems.push(`message ${message.id} differs from the feed: ${difference(message, known)}`);
  }
  return problems;
}

/** The queue again, from where the round began. */
async function compareWithReplay(url: string, watcher: Watcher, say: (text: string) => void): Promise<void> {
  const again: string[] = [];
  const expected = [...watcher.events];
  for (let cursor = watcher.markedAt; again.length < expected.length; ) {
    const form = { queue_id: watcher.queueId, last_event_id: cursor, dont_block: true };
    const { status, body } = await repeated(() => request(url, watcher.who, 'GET /events', form));
    if (status !== 200) return say(`replay: ${status} ${JSON.stringify(body)}`);
    if (body.events.length === 0) break;
    for (const event of body.events) {
      cursor = event.id;
      const name = nameOf(event);
      if (name !== undefined) again.push(name);
    }
  }
  const replayed = again.slice(0, expected.length);
  if (isDeepStrictEqual(replayed, expected)) return;
  const at = expected.findIndex((name, index) => name !== replayed[index]);
  say(`event ${at} of ${expected.length} came as "${expected[at]}", and again as "${replayed[at]}"`);
}

/** Everything that was acknowledged, once. */
function compareWithSent(watchers: Watcher[], sent: Map<number, Sent>): string[] {
  const problems: string[] = [];
  const shown = new Map<number, string>();
  const origins = new Map<string, number>();
  for (const { messages } of watchers)
    for (const { id, content } of messages.values()) {
      shown.set(id, content);
      if (!isOfLoad.test(content)) continue;
      const origin = content.split(' edited ')[0] ?? content;
      const other = origins.get(origin);
      if (other !== undefined && other !== id) problems.push(`"${origin}" was sent twice: ${other} and ${id}`);
      origins.set(origin, id);
    }
  for (const [id, { content }] of sent)
    if (shown.get(id) !== content) problems.push(`message ${id} has to be "${content}", is "${shown.get(id)}"`);
  return [...new Set(problems)];
}

/** Deletes the streams in Redis, so that the next polls read from the record. */
async function forgetLog(redisUrl: string): Promise<void> {
  const redis = new Redis(redisUrl);
  try {
    const keys = await redis.keys('natter:*:log*');
    if (keys.length > 0) await redis.unlink(...keys);
  } finally {
    redis.disconnect();
  }
}

const shownOf = (message: Answer): Shown => ({
  id: message.id,
  content: message.content,
  topic: message.subject,
  isRead: message.flags.includes('read'),
  isStarred: message.flags.includes('starred'),
  reactions: message.reactions.map((one: Answer) => `${one.emoji_name} ${one.user_id}`).sort(),
});

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The first place where two values differ. */
function difference(fresh: unknown, followed: unknown, path = ''): string {
  if (typeof fresh === 'object' && fresh && typeof followed === 'object' && followed)
    for (const key of new Set([...Object.keys(fresh), ...Object.keys(followed)])) {
      const [a, b] = [(fresh as Answer)[key], (followed as Answer)[key]];
      if (!isDeepStrictEqual(a, b)) return difference(a, b, `${path}.${key}`);
    }
  return `${path} is ${JSON.stringify(fresh)?.slice(0, 200)}, was followed to ${JSON.stringify(followed)?.slice(0, 200)}`;
}

/** The fault is over: an answer may take a moment, but comes. */
async function repeated(
  ask: () => Promise<{ status: number; body: Answer }>,
): Promise<{ status: number; body: Answer }> {
  for (const end = Date.now() + settleMs; ; await pause(200)) {
    const answer = await ask().catch((error: unknown) => ({ status: 599, body: { error: String(error) } }));
    if ((answer.status < 500 && answer.status !== 429) || Date.now() > end) return answer;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
