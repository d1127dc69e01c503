import { type Answer, type Client, type Json, openRealm, type Queue } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Cell, Row } from '../roles/cell.ts';
import { callerOf, type Letter, nextNumber, openWorld, prepare, tables, type World } from '../roles/world.ts';
import { pngOf, uploadTo } from '../upload.ts';

let world: World;
let watching: Queue;

beforeAll(async () => {
  world = await openWorld(await openRealm());
  // Of nobody who calls: each one's markers are seen by themselves alone.
  watching = await (await world.realm.person({ role: 'administrator' })).queue({ all_public_streams: true });
});

/** The caller's own key or account ends with the change. */
const ending = [
  'DELETE /users/me',
  'POST /users/me/api_key/regenerate',
  'DELETE /users/me/api_keys/{key_id}',
  'POST /realm/deactivate',
];
/** Tells others something and stores nothing: two at the same moment may tell it twice. */
const ephemeral = ['POST /typing', 'POST /messages/{message_id}/typing', 'POST /users/me/presence'];
/** A caller's state is read anew: the same queue, from now on. */
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
  /** What was told to who changes something, and to an administrator, since this was called last. */
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
    return all.flatMap((events, of) => events.filter((event) => !isLater(event)).map((event) => ({ ...event, of })));
  };
  await told();
  return { send: (headers = {}) => send(who, headers), told };
}

/** What follows from a change a moment after it. */
const isLater = ({ type, message, property, flag }: Json): boolean =>
  type === 'presence' ||
  (type === 'update_message_flags' && flag === 'read') ||
  property === 'first_message_id' ||
  (type === 'message' && message.sender_email.includes('-bot@'));

const key = () => ({ 'idempotency-key': `key ${Math.random()}` });

/** What an answer says, as far as it must be the same. */
function said(operation: string, { status, body }: Answer): Json {
  return operation === stateful ? { status, queue_id: body.queue_id } : { status, body };
}

describe('under an Idempotency-Key', () => {
  test.each(may.filter(({ operation }) => !ending.includes(operation)))(
    '$operation is done once, and answered the same twice',
    { timeout: 60_000 },
    async ({ operation, row, letter }) => {
      const { send, told } = await ready(operation, row, letter);
      const headers = key();
      const first = await send(headers);
      expect(first.status, JSON.stringify(first.body)).toBe(200);
      await told();
      const second = await send(headers);
      expect(said(operation, second)).toEqual(said(operation, first));
      expect(await told()).toEqual([]);
    },
  );

  test.each(may)(
    '$operation is done once when it is sent twice at the same moment',
    { timeout: 60_000 },
    async ({ operation, row, letter }) => {
      const { send, told } = await ready(operation, row, letter);
      const headers = key();
      const [first, second] = await Promise.all([send(headers), send(headers)]);
      expect(said(operation, second)).toEqual(said(operation, first));
      expect(first.status, JSON.stringify(first.body)).toBe(200);
      if (ephemeral.includes(operation)) return;
      const all = (await told()).map(({ id: _, ...event }) => JSON.stringify(event));
      expect(all.filter((event, index) => all.indexOf(event) !== index)).toEqual([]);
    },
  );

  test.each(mayNot)('$operation is refused the same twice', { timeout: 60_000 }, async ({ operation, row, letter }) => {
    const { send, told } = await ready(operation, row, letter);
    const headers = key();
    const first = await send(headers);
    const second = await send(headers);
    expect(first.status, JSON.stringify(first.body)).toBeGreaterThanOrEqual(400);
    expect(said(operation, second)).toEqual(said(operation, first));
    expect(await told()).toEqual([]);
  });

  test('a refusal stands when its cause is gone', async () => {
    const { realm } = world;
    const name = `late ${nextNumber()}`;
    const headers = key();
    const send = (who: Client) =>
      who.post('/messages', { type: 'stream', to: name, topic: 't', content: 'x' }, headers);
    const first = await send(realm.member);
    expect(first.status).toBe(400);
    await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }] });
    expect(await send(realm.member)).toMatchObject({ status: first.status, body: first.body });
    expect((await send(realm.owner)).status).toBe(200);
  });

  test('another body is refused, also where only the file differs; another person is independent', async () => {
    const { realm } = world;
    const headers = key();
    const note = (who: Client, content: string) =>
      who.post('/messages', { type: 'direct', to: [who.user_id], content }, headers);
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

  test('an answer holds all that the first one did', async () => {
    const { realm } = world;
    await realm.member.ok('PATCH', '/settings', { automatically_follow_topics_policy: 1 });
    const headers = key();
    const form = { type: 'stream', to: world.channel, topic: `followed ${nextNumber()}`, content: 'x' };
    const first = await realm.member.post('/messages', form, headers);
    expect(first.body).toMatchObject({ automatic_new_visibility_policy: 3 });
    expect((await realm.member.post('/messages', form, headers)).body).toEqual(first.body);
  });
});
