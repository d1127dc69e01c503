import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFairShare, type FairShare } from './fair-share.ts';

/** A system with one processor: each request takes a while, and the lag grows with the number in flight. */
let share: FairShare;
let foreignLagMs = 0;
const lagPerRequestMs = 5;

beforeEach(() => {
  vi.useFakeTimers();
  foreignLagMs = 0;
  share = createFairShare(
    () => {
      const ms = foreignLagMs + share.inFlight * lagPerRequestMs;
      return { ms, longMs: ms };
    },
    () => Date.now(),
  );
});
afterEach(() => vi.useRealTimers());

const takes = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Sends the next request when the last is answered, until the given time; returns the longest wait and the number of
 * answers.
 */
async function client(
  tenant: { realmId: number; userId: number },
  untilMs: number,
  options: { ms?: number; pauseMs?: number } = {},
) {
  const { ms = 20, pauseMs = 0 } = options;
  const seen = { longestMs: 0, answers: 0, refused: 0 };
  while (Date.now() < untilMs) {
    const began = Date.now();
    try {
      await share.run(tenant, takes(ms));
      seen.answers++;
      seen.longestMs = Math.max(seen.longestMs, Date.now() - began - ms);
    } catch {
      seen.refused++;
      await takes(100)();
    }
    if (pauseMs > 0) await takes(pauseMs)();
  }
  return seen;
}

const withoutLag = () =>
  createFairShare(
    () => ({ ms: 0, longMs: 0 }),
    () => Date.now(),
  );

/** Lowers the limit of requests in flight, while none waits: the lag stays above what is usual. */
async function busy(): Promise<void> {
  foreignLagMs = 100;
  for (let user = 1; user <= 16; user++) void client({ realmId: 1, userId: user }, Date.now() + 5_000, { ms: 200 });
  await vi.advanceTimersByTimeAsync(4_500);
}

/** Sends 4,000 requests of realm 1 at once. Returns how many are refused, all of them at once. */
async function flood(userOf: (index: number) => number): Promise<number> {
  const seen = { begun: 0, refused: 0 };
  for (let i = 0; i < 4_000; i++)
    share.run({ realmId: 1, userId: userOf(i) }, async () => void seen.begun++).catch(() => seen.refused++);
  await vi.advanceTimersByTimeAsync(0);
  const { refused } = seen;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen.begun + seen.refused).toBe(4_000);
  return refused;
}

const after = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  await vi.advanceTimersByTimeAsync(ms);
  return work;
};

test('requests do not wait while the system keeps up', async () => {
  const started: number[] = [];
  for (let i = 0; i < 128; i++) void share.run({ realmId: 1, userId: i }, async () => void started.push(i));
  await Promise.resolve();
  expect(started).toHaveLength(128);
});

test('a single realm is not held back below the capacity of the system', async () => {
  const end = Date.now() + 5_000;
  for (let user = 1; user <= 8; user++) void client({ realmId: 1, userId: user }, end);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(share.inFlight).toBe(8);
});

test('in a realm that must wait, a user with little usage goes before users with much', async () => {
  const end = Date.now() + 20_000;
  for (let user = 1; user <= 64; user++) void client({ realmId: 66, userId: user }, end);
  void client({ realmId: 1, userId: 1 }, end, { ms: 2, pauseMs: 50 });
  await vi.advanceTimersByTimeAsync(5_000);
  const rare = client({ realmId: 66, userId: 1_000 }, end, { pauseMs: 2_000 });
  const seen = await after(20_000, rare);
  expect(seen.refused).toBe(0);
  expect(seen.longestMs).toBeLessThanOrEqual(60);
});

test('above the capacity of the system, some requests are refused at once and the others do not wait long', async () => {
  const end = Date.now() + 12_000;
  const all = Array.from({ length: 400 }, (_, user) => client({ realmId: 1, userId: user }, end, { ms: 50 }));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(share.inFlight).toBeLessThanOrEqual(40);
  await vi.advanceTimersByTimeAsync(30_000);
  const seen = await Promise.all(all);
  expect(seen.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0);
  expect(seen.reduce((sum, { answers }) => sum + answers, 0)).toBeGreaterThan(1_000);
});

test('most requests far beyond the capacity of one second are refused at once', async () => {
  await busy();
  expect(await flood((index) => (index % 16) + 1)).toBeGreaterThan(2_000);
});

test('a burst of 200 requests is answered, whatever the rate was before', async () => {
  foreignLagMs = 1_000;
  void client({ realmId: 1, userId: 1 }, Date.now() + 3_000, { ms: 1_000 });
  await vi.advanceTimersByTimeAsync(3_000);
  const all = Array.from({ length: 200 }, (_, user) => share.run({ realmId: 1, userId: user }, takes(20)));
  await vi.advanceTimersByTimeAsync(10_000);
  await Promise.all(all);
});

test('users with few requests do not hide that all other users of their realm wait all the time', async () => {
  const end = Date.now() + 20_000;
  const many = Array.from({ length: 200 }, (_, user) => client({ realmId: 1, userId: user }, end, { ms: 200 }));
  const rare = client({ realmId: 1, userId: 1_000 }, end, { ms: 5, pauseMs: 100 });
  await vi.advanceTimersByTimeAsync(40_000);
  expect((await rare).refused).toBe(0);
  const seen = await Promise.all(many);
  expect(seen.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0);
});

test('if many requests in flight make each one slow, fewer are admitted, even without lag', async () => {
  share = withoutLag();
  const end = Date.now() + 12_000;
  // The system answers 400 requests a second, in the order of their arrival.
  const arrived: (() => void)[] = [];
  const answering = setInterval(() => {
    for (const answer of arrived.splice(0, 2)) answer();
  }, 5);
  const answered = () => new Promise<void>((resolve) => arrived.push(resolve));
  const send = async (userId: number) => {
    while (Date.now() < end) await share.run({ realmId: 1, userId }, answered).catch(takes(100));
  };
  for (let userId = 1; userId <= 1_000; userId++) void send(userId);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(share.inFlight).toBeGreaterThanOrEqual(40);
  expect(share.inFlight).toBeLessThanOrEqual(100);
  await vi.advanceTimersByTimeAsync(30_000);
  clearInterval(answering);
});

test('too many requests in flight are noticed before the first of them is slow', async () => {
  share = withoutLag();
  const seen = { longestMs: 0, answers: 0, refused: 0 };
  const arrived: (() => void)[] = [];
  const answered = () => new Promise<void>((resolve) => arrived.push(resolve));
  const send = async (userId: number) => {
    const began = Date.now();
    try {
      await share.run({ realmId: 1, userId }, answered);
      seen.answers++;
      seen.longestMs = Math.max(seen.longestMs, Date.now() - began);
    } catch {
      seen.refused++;
    }
  };
  // The system answers 750 requests a second, and gets 3,000.
  for (let ms = 0; ms < 3_000; ms += 4) {
    for (let index = 0; index < 12; index++) void send((ms * 3 + index) % 64);
    await vi.advanceTimersByTimeAsync(4);
    for (const answer of arrived.splice(0, 3)) answer();
  }
  expect(seen.longestMs).toBeLessThanOrEqual(1_000);
  expect(seen.answers).toBeGreaterThanOrEqual(2_200);
});

test('requests that are slow for another reason are held back only for some seconds', async () => {
  share = withoutLag();
  const end = Date.now() + 20_000;
  // The requests begin one after another, so that some end in each interval after which the limit is adjusted.
  const all = Array.from({ length: 300 }, async (_, user) => {
    await takes(user * 2)();
    return client({ realmId: 1, userId: user }, end, { ms: 500 });
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(share.inFlight).toBe(300);
  expect(share.waiting).toBe(0);
  await vi.advanceTimersByTimeAsync(30_000);
  await Promise.all(all);
});

test('a few slow requests do not lower the limit for a burst that follows', async () => {
  share = withoutLag();
  const slow = Array.from({ length: 40 }, (_, user) => share.run({ realmId: 1, userId: user }, takes(300)));
  await after(1_000, Promise.all(slow));
  const burst = Array.from({ length: 500 }, (_, user) => share.run({ realmId: 1, userId: user }, takes(20)));
  // The system answers as many at once as it gets: in four steps.
  await after(80, Promise.all(burst));
});

test('many requests that wait for something else than the system delay others for a moment only', async () => {
  share = withoutLag();
  const locked = Array.from({ length: 700 }, (_, user) => share.run({ realmId: 1, userId: user }, takes(5_000)));
  const other = share.run({ realmId: 2, userId: 1 }, takes(20));
  await after(500, other);
  await after(10_000, Promise.all(locked));
});

test.each([
  { name: 'of one organization, those of another', userOf: (index: number) => index, others: 2 },
  { name: 'of one person, those of others', userOf: () => 0, others: 1 },
])('requests $name are not delayed while more than the limit wait for something else', async ({ userOf, others }) => {
  share = withoutLag();
  const end = Date.now() + 30_000;
  const hung = Array.from({ length: 130 }, async (_, index) => {
    await takes(index * 50)();
    return client({ realmId: 1, userId: userOf(index) }, end, { ms: 8_000 });
  });
  const rest = Array.from({ length: 20 }, (_, index) =>
    client({ realmId: others, userId: 1_000 + index }, end, { ms: 15, pauseMs: 200 }),
  );
  await vi.advanceTimersByTimeAsync(60_000);
  await Promise.all(hung);
  for (const { longestMs, refused } of await Promise.all(rest)) {
    expect(refused).toBe(0);
    expect(longestMs).toBeLessThanOrEqual(100);
  }
});

test.each([0, 10_000])(
  'a lag that ended does not hold back a burst five seconds later, with pauses of %i ms',
  async (quietMs) => {
    foreignLagMs = 100;
    void client({ realmId: 1, userId: 1 }, Date.now() + 7_000, { ms: 20 });
    await vi.advanceTimersByTimeAsync(2_000);
    foreignLagMs = -1_000_000;
    await vi.advanceTimersByTimeAsync(5_000 + quietMs);
    const burst = Array.from({ length: 500 }, (_, user) => share.run({ realmId: 2, userId: user }, takes(20)));
    await after(1_000, Promise.all(burst));
  },
);

test('answers in batches do not hide that too many requests are in flight', async () => {
  share = withoutLag();
  const end = Date.now() + 20_000;
  // The system answers 60 requests every 500 ms, in the order of their arrival.
  const arrived: (() => void)[] = [];
  const answering = setInterval(() => {
    for (const answer of arrived.splice(0, 60)) answer();
  }, 500);
  const answered = () => new Promise<void>((resolve) => arrived.push(resolve));
  const send = async (userId: number) => {
    while (Date.now() < end) await share.run({ realmId: 1, userId }, answered).catch(takes(100));
  };
  for (let userId = 1; userId <= 1_000; userId++) void send(userId);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(share.inFlight).toBeLessThanOrEqual(250);
  await vi.advanceTimersByTimeAsync(60_000);
  clearInterval(answering);
});

test('users with little usage are refused too if they alone exceed the capacity of the system', async () => {
  await busy();
  expect(await flood((index) => 100 + index)).toBeGreaterThan(2_000);
});

test('a realm has no room while its requests would be refused, and is marked as crowding for a while', async () => {
  await busy();
  expect(share.refuses({ realmId: 1, userId: 1 }, { all: 0, own: 0 })).toBe(false);
  expect(share.crowding()).toEqual(new Set());
  expect(share.refuses({ realmId: 1, userId: 1 }, { all: 10_000, own: 10_000 })).toBe(true);
  expect(share.refuses({ realmId: 2, userId: 1 }, { all: 10_000, own: 10_000 })).toBe(false);
  expect(share.crowding()).toEqual(new Set([1]));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(share.crowding()).toEqual(new Set());
});

test('a lag with another cause does not hold back users with few requests at a time', async () => {
  foreignLagMs = 100;
  const end = Date.now() + 30_000;
  for (let user = 1; user <= 3; user++) void client({ realmId: 1, userId: user }, end);
  void client({ realmId: 2, userId: 1 }, end, { ms: 2, pauseMs: 100 });
  await vi.advanceTimersByTimeAsync(15_000);
  expect(share.inFlight).toBeGreaterThanOrEqual(3);
});

test('a constant overload does not count as a new burst whenever the queue is empty', async () => {
  share = withoutLag();
  const arrived: (() => void)[] = [];
  const answered = () => new Promise<void>((resolve) => arrived.push(resolve));
  const seen = { longestMs: 0, refused: 0 };
  const send = async (userId: number) => {
    const began = Date.now();
    try {
      await share.run({ realmId: 1, userId }, answered);
      // The first second is the burst.
      if (began > startedAt + 1_000) seen.longestMs = Math.max(seen.longestMs, Date.now() - began);
    } catch {
      seen.refused++;
    }
  };
  const startedAt = Date.now();
  // The system answers 500 requests a second. In each second it gets 1,000 within 0.4 s.
  for (let ms = 0; ms < 8_000; ms += 4) {
    if (ms % 1_000 < 400) for (let index = 0; index < 10; index++) void send((ms + index) % 64);
    await vi.advanceTimersByTimeAsync(4);
    for (const answer of arrived.splice(0, 2)) answer();
  }
  expect(seen.refused).toBeGreaterThan(0);
  expect(seen.longestMs).toBeLessThanOrEqual(700);
});

test('a user is not refused because of requests of others that have not arrived yet', async () => {
  share = withoutLag();
  void share.run({ realmId: 1, userId: 1 }, takes(20));
  const many = { all: 10_000, own: 0 };
  expect(share.refuses({ realmId: 1, userId: 2 }, many)).toBe(false);
  const flood = Array.from({ length: 1_000 }, () => share.run({ realmId: 1, userId: 1 }, takes(200)).catch(() => 0));
  await vi.advanceTimersByTimeAsync(100);
  expect(share.refuses({ realmId: 1, userId: 1 }, { all: 10_000, own: 10_000 })).toBe(true);
  expect(share.refuses({ realmId: 1, userId: 2 }, many)).toBe(false);
  await after(10_000, Promise.all(flood));
});
