import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type Actor, ChatError, unavailable } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';
import { expect, test, vi } from 'vitest';
import { createAuthenticator, type Following } from './authenticator.ts';

const [right, wrong] = ['R'.repeat(32), 'w'.repeat(32)];
const turns = () => new Promise((resolve) => setImmediate(resolve));
const meta = { requestId: '', realmId: 1, client: '', network: '192.0.2.1' };
/** A response on the connection of this number. */
const responseOn = (socket: object) =>
  Object.assign(new EventEmitter(), { destroyed: false, req: { socket } }) as unknown as ServerResponse;
const by = { meta, response: responseOn({}) };
const header = (email: string, key: string) => `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`;

const current = { isCurrent: () => true, follow: () => undefined };
const maxBytes = 32 * 1024 * 1024;

/** An authenticator whose users service accepts one key for any address, and the number of calls to the service. */
function create(groups = 0, following: Following = current) {
  const groupIds = Array.from({ length: groups }, (_, index) => index);
  const asked: string[] = [];
  const bus = {
    call: async (_: unknown, { email, api_key }: { email: string; api_key: string }) => {
      asked.push(email);
      if (api_key !== right) throw new ChatError('INVALID_API_KEY', 'Invalid API key');
      return { realmId: 1, userId: Number(email.slice(1)) || 0, email, groupIds } as Actor;
    },
  } as unknown as Bus;
  const authenticator = createAuthenticator(bus, following, maxBytes);
  const show = (email: string, key = right) => authenticator.authenticate({ header: header(email, key) }, by, 'other');
  return { asked, authenticator, show };
}

test('wrong keys do not evict right ones, and a used key outlives more other keys than the cache holds', async () => {
  const { asked, show } = create();
  await show('ann');
  for (let count = 0; count < 60_000; count++) {
    if (count % 2 === 0) await show(`u${count}`);
    else await show('ann', String(count).padStart(32, 'w')).catch(() => undefined);
    if (count % 10_000 === 0) await show('ann');
  }
  for (let count = 60_000; count < 110_000; count++) {
    await show(`u${count}`);
    if (count % 10_000 === 0) await show('ann');
  }
  asked.length = 0;
  await show('ann');
  await show('u109000');
  expect(asked).toEqual([]);
  await show('u0');
  expect(asked).toEqual(['u0']);
});

test("right keys follow their realm's log, and wrong ones do not", async () => {
  let isFollowed = false;
  const follow = vi.fn(() => {
    isFollowed = true;
  });
  const following = { isCurrent: () => isFollowed, follow };
  const { asked, show } = create(0, following);
  for (let count = 0; count < 3; count++)
    await expect(show('ann', wrong)).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
  expect(follow).not.toHaveBeenCalled();
  asked.length = 0;
  // The first actor may have changed before the log was followed.
  for (let count = 0; count < 3; count++) await show('ann');
  expect(asked).toHaveLength(2);
  expect(follow).toHaveBeenCalledTimes(3);
});

test('users in thousands of groups do not take more memory than others', async () => {
  const { asked, show } = create(10_000);
  for (let count = 0; count < 1_000; count++) await show(`u${count}`);
  asked.length = 0;
  await show('u999');
  expect(asked).toEqual([]);
  await show('u0');
  expect(asked).toEqual(['u0']);
});

test('an actor is looked up again after its credentials end and after a gap in the log', async () => {
  const { asked, authenticator, show } = create();
  await show('u7');
  await show('u8');
  authenticator.follow(1, { type: 'credentials_changed', body: { user_id: 7 }, audience: { users: { ids: [] } } });
  asked.length = 0;
  await show('u7');
  await show('u8');
  expect(asked).toEqual(['u7']);
  authenticator.lost(2);
  await show('u7');
  expect(asked).toEqual(['u7']);
  authenticator.lost(1);
  await show('u7');
  await show('u8');
  expect(asked).toEqual(['u7', 'u7', 'u8']);
});

/** An authenticator whose look-ups end when the test calls `answer`. */
function createHeld() {
  const held: { email: string; answer: () => void }[] = [];
  const bus = {
    call: (_: unknown, { email, api_key }: { email: string; api_key: string }) =>
      new Promise((resolve, reject) => {
        const answer = () =>
          api_key === right
            ? resolve({ realmId: 1, userId: 1, email })
            : reject(new ChatError('INVALID_API_KEY', 'Invalid API key'));
        held.push({ email, answer });
      }),
  } as unknown as Bus;
  const authenticator = createAuthenticator(bus, current, maxBytes);
  const show = (email: string, key: string, network: string, response: ServerResponse) =>
    authenticator.authenticate({ header: header(email, key) }, { meta: { ...meta, network }, response }, 'other');
  return { held, show, authenticator };
}

test.each([
  [1, 2],
  [9, 1],
])('while an actor is looked up, a change of user %i leads to %i look-ups in all', async (changed, lookUps) => {
  const { held, show, authenticator } = createHeld();
  const ann = () => show('ann', right, '192.0.2.1', responseOn({}));
  const first = ann();
  await turns();
  authenticator.follow(1, {
    type: 'user_group',
    op: 'add_members',
    body: { group_id: 5, user_ids: [changed] },
    audience: 'realm',
  });
  held[0]?.answer();
  await first;
  const second = ann();
  held[1]?.answer();
  await second;
  expect(held).toHaveLength(lookUps);
});

test('guesses of one network have at most 16 look-ups in flight, and those of all networks at most 64', async () => {
  const { held, show } = createHeld();
  const guess = (network: number, count: number) =>
    show(`g${network}-${count}`, wrong, `192.0.2.${network}`, responseOn({})).catch(() => undefined);
  const guesses = Array.from({ length: 500 }, (_, count) => guess(1, count));
  await turns();
  expect(held).toHaveLength(16);
  for (let network = 2; network < 20; network++)
    guesses.push(...Array.from({ length: 20 }, (_, i) => guess(network, i)));
  await turns();
  expect(held).toHaveLength(64);
  for (let at = 0; at < guesses.length; at++) {
    held[at]?.answer();
    await turns();
    expect(held.length - at - 1).toBeLessThanOrEqual(64);
  }
  await Promise.all(guesses);
});

test('guesses from the networks of an IPv6 /48 have the look-ups of one network', async () => {
  const { held, show } = createHeld();
  for (let network = 0; network < 40; network++)
    void show(`g${network}`, wrong, `2001:db8:7:${network}::/64`, responseOn({})).catch(() => undefined);
  await turns();
  expect(held).toHaveLength(16);
});

test('the first use of a key waits for one look-up of each other connection of its network', async () => {
  const { held, show } = createHeld();
  const connections = [{}, {}, {}];
  for (let count = 0; count < 3_000; count++)
    void show(`g${count}`, wrong, '192.0.2.1', responseOn(connections[count % 3] ?? {})).catch(() => undefined);
  const first = show('ann', right, '192.0.2.1', responseOn({}));
  await turns();
  for (let at = 0; at < 16 + 3 + 1; at++) {
    held[at]?.answer();
    await turns();
  }
  expect((await first).email).toBe('ann');
});

test('a known key does not wait for guesses, even if its actor must be looked up again', async () => {
  const { held, show } = createHeld();
  const known = show('ann', right, '192.0.2.1', responseOn({}));
  await turns();
  held.shift()?.answer();
  await known;
  for (let count = 0; count < 100; count++)
    void show(`g${count}`, wrong, '192.0.2.1', responseOn({})).catch(() => undefined);
  await turns();
  expect((await show('ann', right, '192.0.2.1', responseOn({}))).email).toBe('ann');
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 120_000);
  const again = show('ann', right, '192.0.2.1', responseOn({}));
  clock.mockRestore();
  expect(held.at(-1)?.email).toBe('ann');
  held.at(-1)?.answer();
  expect((await again).email).toBe('ann');
});

test('guesses of disconnected clients are not looked up', async () => {
  const { held, show } = createHeld();
  const responses = Array.from({ length: 40 }, () => responseOn({}));
  const guesses = responses.map((response, i) => show(`g${i}`, wrong, '192.0.2.1', response).catch(() => undefined));
  await turns();
  for (const response of responses) response.emit('close');
  for (let at = 0; at < 16; at++) held[at]?.answer();
  await Promise.all(guesses);
  expect(held).toHaveLength(16);
});

test('while users is unavailable, cached actors can read the server status for minutes and poll for less', async () => {
  let isAway = false;
  const bus = {
    call: async () => {
      if (isAway) throw unavailable();
      return { realmId: 1, userId: 1, email: 'ann' } as Actor;
    },
  } as unknown as Bus;
  const authenticator = createAuthenticator(bus, current, maxBytes);
  const outcomes = () =>
    Promise.all(
      (['server status', 'poll', 'other'] as const).map((purpose) =>
        authenticator.authenticate({ header: header('ann', right) }, by, purpose).then(
          ({ email }) => email,
          (error: ChatError) => error.code,
        ),
      ),
    );
  expect(await outcomes()).toEqual(['ann', 'ann', 'ann']);
  isAway = true;
  const began = performance.now();
  const clock = vi.spyOn(performance, 'now');
  const away = 'SERVICE_UNAVAILABLE';
  for (const [seconds, expected] of [
    [90, ['ann', 'ann', away]],
    [590, ['ann', away, away]],
    [610, [away, away, away]],
  ] as const) {
    clock.mockReturnValue(began + seconds * 1_000);
    expect(await outcomes()).toEqual(expected);
  }
  clock.mockRestore();
});
