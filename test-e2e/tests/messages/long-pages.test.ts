import { type Client, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { channel } from '../channels/setting.ts';

/** One answer contains a bounded amount of text; clients continue where it ends. */
let realm: Realm;
let at: number;
/** Ascending. */
const sent: number[] = [];
const count = 260;
/** 40 kB of HTML. */
const long = '<'.repeat(9_990);

beforeAll(async () => {
  realm = await openRealm();
  at = await channel(realm.member, [realm.member]);
  const form = { type: 'channel', to: at, topic: 't', content: long };
  const send = async (): Promise<number> => (await realm.member.ok('POST', '/messages', form)).id as number;
  const atOnce = 10;
  while (sent.length < count) sent.push(...(await Promise.all(Array.from({ length: atOnce }, send))));
  sent.sort((a, b) => a - b);
});

interface Page {
  found_newest: boolean;
  found_oldest: boolean;
  messages: { id: number; content: string }[];
}

const page = async (who: Client, form: Record<string, unknown>): Promise<Page> =>
  (await who.ok('GET', '/messages', {
    num_before: 0,
    num_after: 0,
    narrow: [
      { operator: 'channel', operand: at },
      { operator: 'topic', operand: 't' },
    ],
    ...form,
  })) as unknown as Page;

const idsOf = ({ messages }: Page): number[] => messages.map(({ id }) => id);

test('a page that would be too large ends early, and the next page continues it', async () => {
  const seen: number[] = [];
  let pages = 0;
  for (let anchor: number | string = 'oldest', isEnd = false; !isEnd; pages++) {
    const got = await page(realm.member, { anchor, num_after: 5_000, include_anchor: pages === 0 });
    expect(Buffer.byteLength(JSON.stringify(got))).toBeLessThan(12_000_000);
    seen.push(...idsOf(got));
    anchor = seen.at(-1) ?? 0;
    isEnd = got.found_newest;
  }
  expect(pages).toBeGreaterThan(1);
  expect(seen).toEqual(sent);
});

test('a page before the newest anchor keeps the newest messages and omits older ones', async () => {
  const got = await page(realm.member, { anchor: 'newest', num_before: 5_000 });
  expect(got.found_oldest).toBe(false);
  expect(got.found_newest).toBe(true);
  expect(idsOf(got)).toEqual(sent.slice(-got.messages.length));
});

test('a page around an anchor is limited on both sides and has no gap', async () => {
  const anchor = sent[130] ?? 0;
  const got = await page(realm.member, { anchor, num_before: 2_000, num_after: 2_000 });
  expect([got.found_oldest, got.found_newest]).toEqual([false, false]);
  const first = sent.indexOf(idsOf(got)[0] ?? 0);
  expect(idsOf(got)).toEqual(sent.slice(first, first + got.messages.length));
  expect(idsOf(got)).toContain(anchor);
});

test('a request for too much text by message IDs is rejected', async () => {
  const answer = await realm.member.get('/messages', { message_ids: sent });
  expect(answer.status).toBe(400);
  expect(answer.body.msg).toBe('The messages have too much text for one request. Ask for fewer of them.');
  expect(
    (
      await page(realm.member, {
        message_ids: sent.slice(0, 20),
        num_before: undefined,
        num_after: undefined,
        narrow: undefined,
      })
    ).messages,
  ).toHaveLength(20);
});

test('the text of all edits of a message is limited to 1 MiB', async () => {
  const id = sent[0] ?? 0;
  const edit = (n: number) => realm.member.patch(`/messages/${id}`, { content: `${n}${'<'.repeat(9_990)}` });
  let refused: Awaited<ReturnType<typeof edit>> | undefined;
  for (let n = 0; n < 40 && !refused; n++) {
    const answer = await edit(n);
    if (answer.status !== 200) refused = answer;
  }
  expect(refused?.status).toBe(400);
  expect(refused?.body.msg).toBe('Too much text in edits of a message (limit: 1024 KiB)');
});

test('the text of all drafts is limited to 4 MiB, also when a draft is edited', async () => {
  const draft = (length: number) => ({ type: '', to: [], topic: '', content: 'x'.repeat(length) });
  for (let part = 0; part < 4; part++)
    await realm.member.ok('POST', '/drafts', { drafts: Array.from({ length: 100 }, () => draft(10_000)) });
  const limit = 'Too much text in drafts (limit: 4096 KiB)';
  const more = await realm.member.post('/drafts', { drafts: Array.from({ length: 20 }, () => draft(10_000)) });
  expect([more.status, more.body.msg]).toEqual([400, limit]);
  await realm.member.ok('POST', '/drafts', { drafts: Array.from({ length: 19 }, () => draft(10_000)) });
  const small = await realm.member.ok('POST', '/drafts', { drafts: [draft(10)] });
  const grown = await realm.member.patch(`/drafts/${(small.ids as number[])[0]}`, { draft: draft(10_000) });
  expect([grown.status, grown.body.msg]).toEqual([400, limit]);
});
