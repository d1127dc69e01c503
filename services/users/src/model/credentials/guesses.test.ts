import { expect, test, vi } from 'vitest';
import { type Attempts, tooMany } from './attempts.ts';
import { createGuesses, type Guesses, hashOf, waitAfter } from './guesses.ts';

function countsInMemory(): Attempts & { readonly size: number } {
  const counts = new Map<string, number>();
  const ends = new Map<string, number>();
  const memory: Attempts & { readonly size: number } = {
    get size() {
      return counts.size;
    },
    count: async (realmId, what, { seconds, most }) => {
      if ((await memory.add(realmId, what, seconds)) > most) throw tooMany(seconds);
    },
    add: async (realmId, what, seconds) => {
      await new Promise((resolve) => setImmediate(resolve));
      const key = `${realmId} ${what}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (!ends.has(key)) ends.set(key, seconds);
      return counts.get(key) ?? 0;
    },
    left: async (realmId, what) => ends.get(`${realmId} ${what}`) ?? 0,
    prolong: async (realmId, what) => counts.has(`${realmId} ${what}`),
    drop: async (realmId, what) => void [counts, ends].map((map) => map.delete(`${realmId} ${what}`)),
  };
  return memory;
}

/** Counts that end, as those in Redis do. */
function countsThatEnd(): Attempts {
  const counts = countsInMemory();
  const until = new Map<string, number>();
  return {
    ...counts,
    add: async (realmId, what, seconds) => {
      if ((until.get(what) ?? 0) <= Date.now()) {
        await counts.drop(realmId, what);
        until.set(what, Date.now() + seconds * 1_000);
      }
      return counts.add(realmId, what, seconds);
    },
    prolong: async (_, what, seconds) => {
      if ((until.get(what) ?? 0) <= Date.now()) return false;
      until.set(what, Date.now() + seconds * 1_000);
      return true;
    },
    drop: async (realmId, what) => {
      until.delete(what);
      await counts.drop(realmId, what);
    },
  };
}

test('simultaneous guesses of one network at many accounts share one count', async () => {
  const guesses = createGuesses(countsInMemory(), 5);
  let tried = 0;
  const guess = (network: string, userId: number) =>
    guesses.attempt({ realmId: 1, network }, { userId }, async () => {
      tried++;
      await new Promise((resolve) => setImmediate(resolve));
      return undefined;
    });
  const all = await Promise.allSettled(Array.from({ length: 200 }, (_, index) => guess('192.0.2.1', index)));
  expect(tried).toBe(50);
  expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(150);
  // Nobody elsewhere waits for that.
  await guess('192.0.2.2', 1);
  expect(tried).toBe(51);
});

/** Several processes that count together. */
const processes = (many: number): Guesses[] => {
  const counts = countsInMemory();
  return Array.from({ length: many }, () => createGuesses(counts, 5));
};

test.each([1, 2, 4])('simultaneous guesses on %i processes share one limit', async (many) => {
  const all = processes(many);
  const tried = new Map<number, number>();
  const guess = (guesses: Guesses, userId: number) =>
    guesses.attempt({ realmId: 1, network: '192.0.2.1' }, { userId }, async () => {
      tried.set(userId, (tried.get(userId) ?? 0) + 1);
      await new Promise((resolve) => setImmediate(resolve));
      return undefined;
    });
  await Promise.allSettled(all.flatMap((guesses) => Array.from({ length: 20 }, () => guess(guesses, 1))));
  expect(tried.get(1)).toBe(5);
  const others = Array.from({ length: 55 }, (_, index) => index + 2);
  await Promise.allSettled(all.flatMap((guesses) => others.map((userId) => guess(guesses, userId))));
  expect([...tried.values()].reduce((sum, count) => sum + count, 0)).toBe(50);
});

test('a wrong password below the limit does not refuse right ones that are sent to several processes', async () => {
  const all = processes(3);
  const by = { realmId: 1, network: '192.0.2.1' };
  const guess = (guesses: Guesses, userId: number, isRight: boolean) =>
    guesses.attempt(by, { userId }, async () => isRight || undefined);
  const [first] = all;
  for (let userId = 1; userId <= 45; userId++) if (first) await guess(first, userId, false);
  for (let count = 0; count < 4; count++) if (first) await guess(first, 100, false);
  const logins = all.flatMap((guesses) => [100, 100, 101, 102].map((userId) => guess(guesses, userId, true)));
  expect(await Promise.all(logins)).toEqual(Array(12).fill(true));
});

test('a user who logged in from a network is not refused because of guesses at other users there', async () => {
  const guesses = createGuesses(countsInMemory(), 5);
  const by = { realmId: 1, network: '192.0.2.1' };
  const attempt = (userId: number, isRight: boolean) =>
    guesses.attempt(by, { userId }, async () => isRight || undefined).catch(() => 'refused');
  expect(await attempt(1, true)).toBe(true);
  for (let userId = 100; userId < 150; userId++) await attempt(userId, false);
  expect([await attempt(100, false), await attempt(2, true)]).toEqual(['refused', 'refused']);
  expect([await attempt(1, true), await attempt(1, true)]).toEqual([true, true]);
  // Guesses at that person still wait, and nobody is exempt elsewhere because of them.
  const wrong: unknown[] = [];
  for (let count = 0; count < 7; count++) wrong.push(await attempt(1, false));
  expect(wrong).toEqual([...Array(5).fill(undefined), 'refused', 'refused']);
  expect(await attempt(1, true)).toBe('refused');
});

test('an attempt is familiar from the second login of an account in a network, and only in that network', async () => {
  const guesses = createGuesses(countsInMemory(), 5);
  const told: boolean[] = [];
  const logIn = (network: string, name: string) =>
    guesses.attempt({ realmId: 1, network }, { name }, async (isFamiliar) => {
      told.push(isFamiliar);
      return true;
    });
  await logIn('192.0.2.1', 'ann@example.com');
  await logIn('192.0.2.1', 'Ann@example.com');
  await logIn('192.0.2.1', 'bob@example.com');
  await logIn('192.0.2.2', 'ann@example.com');
  expect(told).toEqual([false, true, false, false]);
});

test('the number of remembered networks of an account is bounded', async () => {
  const counts = countsInMemory();
  const guesses = createGuesses(counts, 5);
  for (let host = 0; host < 500; host++)
    await guesses.attempt({ realmId: 1, network: `2001:db8:0:${host}::/64` }, { userId: 1 }, async () => true);
  expect(counts.size).toBe(101);
});

test('a process whose turn has expired does not end the turn of another process', async () => {
  vi.useFakeTimers();
  try {
    const ending = countsThatEnd();
    const [slow, other, third] = [createGuesses(ending, 5), createGuesses(ending, 5), createGuesses(ending, 5)];
    const by = { realmId: 1, network: '192.0.2.1' };
    const begun: string[] = [];
    const lasting = (who: string, ms: number) => async () => {
      begun.push(who);
      await new Promise((resolve) => setTimeout(resolve, ms));
      return true;
    };
    const first = slow.attempt(by, { userId: 1 }, lasting('slow', 12_000));
    await vi.advanceTimersByTimeAsync(100);
    const second = other.attempt(by, { userId: 2 }, lasting('other', 8_000));
    await vi.advanceTimersByTimeAsync(11_000);
    expect(begun).toEqual(['slow', 'other']);
    const last = third.attempt(by, { userId: 3 }, lasting('third', 10));
    // The first attempt ends at 12 s, in the turn of the second, which ends at 18 s.
    await vi.advanceTimersByTimeAsync(4_000);
    expect(begun).toEqual(['slow', 'other']);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await Promise.all([first, second, last])).toEqual([true, true, true]);
  } finally {
    vi.useRealTimers();
  }
});

test('a process that exits in an attempt delays others for two seconds, and a running one keeps its turn', async () => {
  vi.useFakeTimers();
  try {
    const ending = countsThatEnd();
    let isGone = false;
    const prolong: Attempts['prolong'] = async (...given) => !isGone && ending.prolong(...given);
    const [gone, other] = [createGuesses({ ...ending, prolong }, 5), createGuesses(ending, 5)];
    const by = { realmId: 1, network: '192.0.2.1' };
    let hasLoggedIn = false;
    void gone.attempt(by, { userId: 1 }, () => new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(100);
    const login = other.attempt(by, { userId: 2 }, async () => {
      hasLoggedIn = true;
      return true;
    });
    await vi.advanceTimersByTimeAsync(6_000);
    expect(hasLoggedIn).toBe(false);
    isGone = true;
    await vi.advanceTimersByTimeAsync(2_500);
    expect(hasLoggedIn).toBe(true);
    expect(await login).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('wrong keys of one network add a bounded number of counts, and all names then get the same response', async () => {
  const counts = countsInMemory();
  const guesses = createGuesses(counts, 5);
  const by = { realmId: 1, network: '192.0.2.1' };
  const names = Array.from({ length: 2_000 }, (_, index) => `nobody${index}@example.com`);
  const outcomes = await Promise.allSettled(names.map((name) => guesses.wrongKey(by, name)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(500);
  expect(counts.size).toBe(501);
  // The response is the same for a name that was tried before and for a new one.
  for (const name of ['nobody1@example.com', 'ann@example.com'])
    await expect(guesses.wrongKey(by, name)).rejects.toMatchObject({ code: 'RATE_LIMIT_HIT' });
  await guesses.wrongKey({ ...by, network: '192.0.2.2' }, 'nobody@example.com');
});

test('simultaneous logins of a user with many apps do not count as guesses', async () => {
  const guesses = createGuesses(countsInMemory(), 5);
  const by = { realmId: 1, network: '192.0.2.1' };
  const login = () => guesses.attempt(by, { userId: 1 }, async () => true);
  expect(await Promise.all(Array.from({ length: 30 }, login))).toEqual(Array(30).fill(true));
});

test('the wait after wrong guesses begins with the last free guess, doubles, and is at most 30 minutes', () => {
  expect([1, 4, 5, 6, 7, 10, 11, 1_000].map((wrong) => waitAfter(wrong, 5))).toEqual([
    0, 0, 30, 60, 120, 960, 1_800, 1_800,
  ]);
});

test('several spellings of one name share one count', () => {
  const same = [
    'ann@example.com',
    ' Ann@Example.com\t',
    '\u00a0ANN@EXAMPLE.COM',
    'ann@example.ｃｏｍ',
    'ann@example.com\n',
  ];
  expect(new Set(same.map(hashOf)).size).toBe(1);
  expect(hashOf('bob@example.com')).not.toBe(hashOf('ann@example.com'));
  expect(hashOf('x'.repeat(1_000_000))).toHaveLength(22);
});
