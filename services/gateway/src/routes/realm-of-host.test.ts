import { ChatError } from '@natter/contracts';
import { type Bus, untilDeadline, withDeadline } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { createRealmFinder } from './realm-of-host.ts';

/** Finds realms over a bus on which one host has a realm, and counts the calls. `now` is in milliseconds. */
function finder(limit: number, defaultHost?: string) {
  const asked: string[] = [];
  const clock = { now: 0 };
  const users = { isAway: false, isSilent: false, answers: Promise.resolve() };
  const hosts = new Map([['chat.example', 1]]);
  const bus = {
    call: async (_: unknown, { host }: { host: string }) => {
      asked.push(host);
      await untilDeadline(users.answers);
      if (users.isSilent) return new Promise(() => undefined);
      if (users.isAway) throw new ChatError('SERVICE_UNAVAILABLE', 'No process answers');
      const found = hosts.has(host) ? host : defaultHost;
      if (found) return { realm_id: hosts.get(found), realm_url: `https://${found}`, host: found };
      throw new ChatError('NONEXISTENT_SUBDOMAIN', 'There is no organization here');
    },
  } as unknown as Bus;
  const find = createRealmFinder(bus, { limit, windowSeconds: 60 }, () => clock.now);
  const codeOf = (host: string, network: string): Promise<string> =>
    find(host, { requestId: '', realmId: 0, client: '', network }).then(
      ({ realmId }) => (realmId === 1 ? 'found' : `realm ${realmId}`),
      (error: ChatError) => error.code,
    );
  return { asked, codeOf, clock, hosts, users };
}

test('a network that requests unknown hosts is refused before the users service is called', async () => {
  const { asked, codeOf } = finder(3);
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  for (let count = 0; count < 3; count++)
    expect(await codeOf(`${count}.example`, '192.0.2.1')).toBe('NONEXISTENT_SUBDOMAIN');
  expect(await codeOf('3.example', '192.0.2.1')).toBe('RATE_LIMIT_HIT');
  expect(asked).not.toContain('3.example');
});

test('simultaneous requests for unknown hosts count before the users service answers', async () => {
  const { asked, codeOf, users } = finder(3);
  let answer: () => void = () => undefined;
  users.answers = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const all = Array.from({ length: 200 }, (_, index) => codeOf(`${index}.example`, '192.0.2.1'));
  await new Promise(setImmediate);
  expect(asked).toHaveLength(3);
  answer();
  const codes = await Promise.all(all);
  expect(asked).toHaveLength(3);
  expect(codes.filter((code) => code === 'RATE_LIMIT_HIT')).toHaveLength(197);
});

test('while users is slow, all networks together have a bounded number of host look-ups', async () => {
  const { asked, codeOf, users } = finder(100);
  users.answers = new Promise<void>(() => undefined);
  for (let count = 0; count < 3_000; count++) void codeOf(`${count}.example`, `192.0.2.${count}`);
  await new Promise(setImmediate);
  expect(asked.length).toBeLessThanOrEqual(200);
  expect(await codeOf('one-more.example', '192.0.3.1')).toBe('RATE_LIMIT_HIT');
});

test('right after a start, the hosts of many realms are found, however many are requested at once', async () => {
  const { codeOf, hosts } = finder(3);
  for (let count = 0; count < 500; count++) hosts.set(`${count}.example`, 1);
  const all = Array.from({ length: 500 }, (_, index) => codeOf(`${index}.example`, '192.0.2.1'));
  expect(new Set(await Promise.all(all))).toEqual(new Set(['found']));
});

test('a limited network still reaches known hosts, and other networks are not affected', async () => {
  const { codeOf } = finder(1);
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  expect(await codeOf('no.example', '192.0.2.1')).toBe('NONEXISTENT_SUBDOMAIN');
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  expect(await codeOf('no.example', '192.0.2.2')).toBe('NONEXISTENT_SUBDOMAIN');
});

test('with a default realm, unknown hosts are limited too, and known hosts are served', async () => {
  const { asked, codeOf } = finder(3, 'chat.example');
  await codeOf('chat.example', '192.0.2.1');
  for (let count = 0; count < 3; count++) expect(await codeOf(`${count}.example`, '192.0.2.1')).toBe('found');
  for (let count = 3; count < 100; count++)
    expect(await codeOf(`${count}.example`, '192.0.2.1')).toBe('RATE_LIMIT_HIT');
  expect(asked).toEqual(['chat.example', '0.example', '1.example', '2.example']);
  for (const host of ['chat.example', '0.example']) expect(await codeOf(host, '192.0.2.1')).toBe('found');
  expect(await codeOf('100.example', '192.0.2.2')).toBe('found');
});

test('many networks together cause at most the allowed calls for unknown hosts per second', async () => {
  const { asked, codeOf, clock } = finder(100, 'chat.example');
  await codeOf('chat.example', '192.0.2.1');
  for (let count = 0; count < 1_000; count++) await codeOf(`${count}.example`, `192.0.2.${count % 10}`);
  expect(asked.length).toBeLessThanOrEqual(51);
  // During the flood results of unknown hosts stay valid for longer, and those of realms do not.
  clock.now = 30_000;
  for (let count = 0; count < 50; count++) await codeOf(`more-${count}.example`, '192.0.2.1');
  asked.length = 0;
  for (const host of ['0.example', '1.example', 'chat.example']) expect(await codeOf(host, '192.0.2.1')).toBe('found');
  expect(asked).toEqual(['chat.example']);
  clock.now = 60_500;
  for (let count = 50; count < 100; count++) await codeOf(`more-${count}.example`, '192.0.2.2');
  asked.length = 0;
  await codeOf('0.example', '192.0.2.1');
  expect(asked).toEqual(['0.example']);
});

test('during a flood of unknown hosts, other networks can still find a realm that is not cached', async () => {
  const { asked, codeOf } = finder(100);
  for (let count = 0; count < 1_000; count++) await codeOf(`${count}.example`, `192.0.2.${count % 10}`);
  expect(await codeOf('one-more.example', '192.0.2.1')).toBe('RATE_LIMIT_HIT');
  asked.length = 0;
  expect(await codeOf('chat.example', '192.0.3.1')).toBe('found');
  for (let count = 0; count < 10; count++) await codeOf(`other-${count}.example`, '192.0.3.1');
  expect(asked).toEqual(['chat.example', 'other-0.example', 'other-1.example', 'other-2.example']);
});

test('the networks of one /48 count as one', async () => {
  const { asked, codeOf } = finder(3);
  for (let count = 0; count < 100; count++) await codeOf(`${count}.example`, `2001:db8:7:${count}::/64`);
  expect(asked).toHaveLength(3);
  expect(await codeOf('no.example', '2001:db8:8:1::/64')).toBe('NONEXISTENT_SUBDOMAIN');
});

test.each([undefined, 'chat.example'])(
  'a new realm is found at once, or after two seconds (default: %s)',
  async (main) => {
    const { codeOf, clock, hosts } = finder(100, main);
    const before = await codeOf('new.example', '192.0.2.1');
    expect(before).toBe(main ? 'found' : 'NONEXISTENT_SUBDOMAIN');
    hosts.set('new.example', 2).set('other.example', 3);
    expect(await codeOf('other.example', '192.0.2.1')).toBe('realm 3');
    expect(await codeOf('new.example', '192.0.2.1')).toBe(before);
    clock.now = 2_000;
    expect(await codeOf('new.example', '192.0.2.1')).toBe('realm 2');
  },
);

test('while users is unavailable, known hosts are served at once, and unknown ones for at most a minute', async () => {
  const { codeOf, clock, users } = finder(100);
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  expect(await codeOf('no.example', '192.0.2.1')).toBe('NONEXISTENT_SUBDOMAIN');
  clock.now = 30 * 60_000;
  users.isAway = true;
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  expect(await codeOf('no.example', '192.0.2.1')).toBe('SERVICE_UNAVAILABLE');
  // A call that is never answered delays no request.
  users.isSilent = true;
  for (let count = 0; count < 100; count++) expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
});

test('a known host is served while the refresh of its result is pending', async () => {
  const { codeOf, clock, users } = finder(100);
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  clock.now = 3_000;
  users.isSilent = true;
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
});

test('a realm that moved to another host is detected after an outage', async () => {
  const { codeOf, clock, hosts, users } = finder(100);
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  clock.now = 3_000;
  users.isAway = true;
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  users.isAway = false;
  hosts.delete('chat.example');
  await expect.poll(() => codeOf('chat.example', '192.0.2.1')).toBe('NONEXISTENT_SUBDOMAIN');
});

test('while users does not answer, the default realm serves an unknown host at once', async () => {
  const { codeOf, clock, users } = finder(3, 'chat.example');
  expect(await codeOf('127.0.0.1', '192.0.2.1')).toBe('found');
  clock.now = 10_000;
  users.isAway = true;
  expect(await codeOf('127.0.0.1', '192.0.2.1')).toBe('found');
  Object.assign(users, { isAway: false, isSilent: true });
  expect(await codeOf('127.0.0.1', '192.0.2.1')).toBe('found');
});

test('a request that is cancelled does not end the call that others for the same host have joined', async () => {
  const { asked, codeOf, users } = finder(3);
  let answer: () => void = () => undefined;
  users.answers = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const cancelled = withDeadline(60_000, (deadline) => {
    const code = codeOf('chat.example', '192.0.2.1');
    deadline.cancel();
    return code;
  });
  const other = codeOf('chat.example', '192.0.2.1');
  expect(await cancelled).toBe('SERVICE_UNAVAILABLE');
  answer();
  expect([await other, asked]).toEqual(['found', ['chat.example']]);
});
