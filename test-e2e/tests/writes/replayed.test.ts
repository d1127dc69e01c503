import { readFile } from 'node:fs/promises';
import { type Answer, type Client, type Json, openRealm, type Queue } from '@natter/testkit';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import type { Cell, Row } from '../roles/cell.ts';
import { callerOf, type Letter, nextNumber, openWorld, prepare, tables, type World } from '../roles/world.ts';
import { pngOf, uploadTo } from '../upload.ts';

let world: World;
let watching: Queue;

beforeAll(async () => {
  world = await openWorld(await openRealm());
  // A user who sends none of the requests, because markers are visible to their sender only.
  watching = await (await world.realm.person({ role: 'administrator' })).queue({ all_public_streams: true });
});

/** The change ends the caller's own key or account. */
const ending = [
  'DELETE /users/me',
  'POST /users/me/api_key/regenerate',
  'DELETE /users/me/api_keys/{key_id}',
  'POST /realm/deactivate',
];
/** Notifies others and stores nothing: two simultaneous requests may notify twice. */
const ephemeral = ['POST /typing', 'POST /messages/{message_id}/typing', 'POST /users/me/presence'];
/** Returns the same queue with the current state. */
const stateful = 'POST /register';

const writes = Object.entries(tables).filter(([operation]) => !operation.startsWith('GET '));
const may = writes.flatMap(([operation, [letters, row = {}]]) => {
  const letter = (['u', 'a', 'o', 'm', 'g', 's'] as const).find((one) => letters.includes(one));
  return letter ? [{ operation, row, letter }] : [];
});
const mayNot = writes.flatMap(([operation, [letters, row = {}]]) => {
  const letter = (['g', 'u', 'b', 'm', 'a', 'o'] as const).find((one) => !letters.includes(one));
  return letter ? [{ operation, row, letter }] : [];
});

interface Ready {
  send: (headers?: Record<string, string>) => Promise<Answer>;
  /** Events received by the caller and by an administrator since the last call. */
  told: () => Promise<Json[]>;
}

async function ready(operation: string, row: Row, letter: Letter): Promise<Ready> {
  const here = row.isOwnRealm ? await openWorld(world.elsewhere) : world;
  const who = await callerOf(letter, row, here);
  const cell: Cell = { ...here, own: who, n: nextNumber() };
  const send = await prepare(operation, row, cell);
  const isAlone = row.isOwnRealm || ending.includes(operation);
  const queues = isAlone
    ? []
    : [watching, ...(who.user_id === 0 ? [] : [await who.queue({ fetch_event_types: ['realm_domains'] })])];
  const told = async (): Promise<Json[]> => {
    const all = await Promise.all(queues.map((queue) => queue.settle()));
    const newcomers = all
      .flat()
      .filter(({ type, op, person }) => type === 'realm_user' && op === 'add' && !person.is_bot);
    if (newcomers.length > 0) {
      await subscribed(newcomers.map(({ person }) => person));
      for (const [of, queue] of queues.entries()) all[of]?.push(...(await queue.settle()));
    }
    return all.flatMap((events, of) => events.filter((event) => !isLater(event)).map((event) => ({ ...event, of })));
  };
  await told();
  return { send: (headers = {}) => send(who, headers), told };
}

/** Waits until new users have their first channels, which the channels service assigns when it learns of the user. */
async function subscribed(people: Json[]): Promise<void> {
  for (const { user_id } of people)
    await expect
      .poll(() =>
        watching.client.ok('GET', `/users/${user_id}/channels`).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
}

/** Consequences that arrive a moment after a change. */
const isLater = ({ type, message, property, flag }: Json): boolean =>
  type === 'presence' ||
  (type === 'update_message_flags' && flag === 'read') ||
  property === 'first_message_id' ||
  (type === 'message' && message.sender_email.includes('-bot@'));

const key = () => ({ 'idempotency-key': `key ${Math.random()}` });

/**
 * The path of the link in a mail to an address, or to one with this suffix. Without a mail server, tests read mails
 * from the log.
 */
async function linkMailed(path: string, email: string): Promise<string> {
  for (const end = Date.now() + 120_000; Date.now() < end; ) {
    const lines = (await readFile(inject('natterLog'), 'utf8')).split('\n').filter((line) => line.includes(email));
    const found = lines.flatMap((line) => new RegExp(`/accounts/${path}/[\\w-]+`).exec(line)?.[0] ?? []).at(-1);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no link to ${path} was mailed to ${email}`);
}

/** The parts of an answer that must be equal. */
function said(operation: string, { status, body }: Answer): Json {
  return operation === stateful ? { status, queue_id: body.queue_id } : { status, body };
}

describe('under an Idempotency-Key', () => {
  test.each(may.filter(({ operation }) => !ending.includes(operation)))(
    '$operation is executed once and returns the same response twice',
    async ({ operation, row, letter }) => {
      const { send, told } = await ready(operation, row, letter);
      const headers = key();
      const first = await send(headers);
      expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
      await told();
      const second = await send(headers);
      expect(said(operation, second)).toEqual(said(operation, first));
      expect(await told()).toEqual([]);
    },
  );

  test.each(may)('$operation is executed once if it is sent twice concurrently', async ({ operation, row, letter }) => {
    const { send, told } = await ready(operation, row, letter);
    const headers = key();
    const [first, second] = await Promise.all([send(headers), send(headers)]);
    expect(said(operation, second)).toEqual(said(operation, first));
    expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
    if (ephemeral.includes(operation)) return;
    const all = (await told()).map(({ id: _, ...event }) => JSON.stringify(event));
    expect(all.filter((event, index) => all.indexOf(event) !== index)).toEqual([]);
  });

  test.each(mayNot)('$operation returns the same error twice', async ({ operation, row, letter }) => {
    const { send, told } = await ready(operation, row, letter);
    const headers = key();
    const first = await send(headers);
    const second = await send(headers);
    expect(first.status, JSON.stringify(first.body)).toBeGreaterThanOrEqual(400);
    expect(said(operation, second)).toEqual(said(operation, first));
    expect(await told()).toEqual([]);
  });

  test('an error is returned again even if its cause is gone', async () => {
    const { realm } = world;
    const name = `late ${nextNumber()}`;
    const headers = key();
    const send = (who: Client) =>
      who.patiently('POST', '/messages', { type: 'stream', to: name, topic: 't', content: 'x' }, headers);
    const first = await send(realm.member);
    expect(first.status).toBe(400);
    await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }] });
    expect(await send(realm.member)).toMatchObject({ status: first.status, body: first.body });
    expect((await send(realm.owner)).status).toBe(200);
  });

  test('an empty key and a too long key are rejected', async () => {
    const { realm } = world;
    const form = { type: 'direct', to: [realm.member2.user_id], content: 'x' };
    for (const [key, msg] of [
      ['', 'Idempotency-Key is empty'],
      ['k'.repeat(256), 'Idempotency-Key is too long (limit: 255 characters)'],
    ] as const) {
      const { status, body } = await realm.member.patiently('POST', '/messages', form, { 'idempotency-key': key });
      expect([status, body]).toMatchObject([400, { code: 'BAD_REQUEST', msg }]);
    }
  });

  test('a different body or file is rejected, and another user can use the same key', async () => {
    const { realm } = world;
    const headers = key();
    const note = (who: Client, content: string) =>
      who.patiently('POST', '/messages', { type: 'direct', to: [who.user_id], content }, headers);
    const mine = await note(realm.member, 'one');
    expect((await note(realm.member, 'two')).body).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    const others = await note(realm.owner, 'two');
    expect(others.status).toBe(200);
    expect(others.body.id).not.toBe(mine.body.id);
    for (const [path, sizes] of [
      ['/user_uploads', [64, 65]],
      ['/users/me/avatar', [64, 65]],
    ] as const) {
      const upload = (width: number) =>
        uploadTo(
          realm.member,
          path,
          {},
          { picture: pngOf(width, 64), headers: { ...headers, 'idempotency-key': path } },
        );
      const first = await upload(sizes[0]);
      expect(first.status).toBe(200);
      expect((await upload(sizes[0])).body).toEqual(first.body);
      expect((await upload(sizes[1])).status).toBe(422);
    }
  });

  // Its row in the table permits no caller, because that realm has no channel for reports.
  test('POST /messages/{message_id}/report is executed once and returns the same response twice', async () => {
    const realm = await openRealm();
    const note = { type: 'direct', to: [realm.member.user_id], content: 'reported' };
    const { id: message } = await realm.owner.ok('POST', '/messages', note);
    const form = { name: 'reports', subscribers: [realm.owner.user_id], invite_only: true };
    const { id } = await realm.owner.ok('POST', '/channels/create', form);
    await realm.owner.ok('PATCH', '/realm', { moderation_request_channel_id: id });
    const queue = await realm.owner.queue({ event_types: ['message'], apply_markdown: false });
    const report = (description: string, headers: Record<string, string>) =>
      realm.member.patiently('POST', `/messages/${message}/report`, { report_type: 'other', description }, headers);
    const headers = key();
    const first = await report('said twice', headers);
    expect(first.status).toBe(200);
    expect((await report('said twice', headers)).body).toEqual(first.body);
    expect((await report('said last', key())).status).toBe(200);
    const contentOf = ({ message }: Json): string => message.content;
    await queue.next((event) => contentOf(event).includes('said last'));
    expect(queue.seen.filter((event) => contentOf(event).includes('said twice'))).toHaveLength(1);
  });

  // The rows of these operations permit no caller, because each link works once.
  test.each([
    [
      'password/reset',
      async (who: Client) => void (await who.ok('POST', '//accounts/password/reset', { email: who.email })),
    ],
    [
      'confirm_new_email',
      async (who: Client) => {
        const form = { email: `new-${who.email}`, old_password: who.password };
        await who.ok('PATCH', '/settings', form);
      },
    ],
  ])('POST //accounts/%s/{key} is executed once and returns the same response twice', async (path, ask) => {
    const { realm } = world;
    const who = await realm.person({ hasPassword: true });
    await ask(who);
    const link = await linkMailed(path, who.email);
    const form = { password: 'quite another password' };
    const headers = key();
    const send = (under: Record<string, string>) => realm.spectator.patiently('POST', `/${link}`, form, under);
    const first = await send(headers);
    expect(first.status, String(first.body)).toBe(200);
    const second = await send(headers);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect((await send(key())).status).toBe(404);
  });

  test('a repeated response contains all fields of the first one', async () => {
    const { realm } = world;
    await realm.member.ok('PATCH', '/settings', { automatically_follow_topics_policy: 1 });
    const headers = key();
    const form = { type: 'stream', to: world.channel, topic: `followed ${nextNumber()}`, content: 'x' };
    const send = () => realm.member.patiently('POST', '/messages', form, headers);
    const first = await send();
    expect(first.body).toMatchObject({ automatic_new_visibility_policy: 3 });
    expect((await send()).body).toEqual(first.body);
  });
});
