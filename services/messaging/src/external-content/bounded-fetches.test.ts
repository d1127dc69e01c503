import { expect, test } from 'vitest';
import { createBoundedFetches } from './bounded-fetches.ts';
import type { Media } from './fetch-media.ts';

const media: Media = { type: 'image/png', content: Buffer.alloc(10) };

/** Fetches that end when they are told to. */
function manual() {
  const started: string[] = [];
  const ends = new Map<string, { resolve: (media: Media) => void; reject: (error: Error) => void }>();
  const fetch = (address: string): Promise<Media> => {
    started.push(address);
    const { promise, resolve, reject } = Promise.withResolvers<Media>();
    ends.set(address, { resolve, reject });
    return promise;
  };
  return { started, ends, fetch };
}

test('few fetches run at a time, with a lower limit for one realm', async () => {
  const { started, ends, fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  const ofOne = Array.from({ length: 6 }, (_, i) => get(1, `a${i}`));
  const ofOthers = Array.from({ length: 6 }, (_, i) => get(2, `b${i}`));
  expect(started).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'b2', 'b3']);
  ends.get('a0')?.resolve(media);
  await ofOne[0];
  await expect.poll(() => started.at(-1)).toBe('a4');
  const endAll = (): number => {
    for (const { resolve } of ends.values()) resolve(media);
    return ends.size;
  };
  await expect.poll(endAll).toBe(12);
  endAll();
  expect((await Promise.all([...ofOne, ...ofOthers])).length).toBe(12);
});

test('requests of one realm share fetches in progress, cached results and, for a while, failures', async () => {
  const { started, ends, fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  const both = [get(1, 'a'), get(1, 'a')];
  ends.get('a')?.resolve(media);
  expect(await Promise.all(both)).toEqual([media, media]);
  expect(await get(1, 'a')).toBe(media);
  const failing = get(1, 'b');
  ends.get('b')?.reject(new Error('gone'));
  await expect(failing).rejects.toThrow('gone');
  await expect(get(1, 'b')).rejects.toThrow('gone');
  expect(started).toEqual(['a', 'b']);
});

test('a realm cannot detect that another realm has read an address or waits for it', async () => {
  const { started, ends, fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  const waiting = Array.from({ length: 8 }, (_, i) => get(1, `a${i}`).catch(() => undefined));
  const ofOther = get(2, 'a7');
  // It does not wait in the line of realm 1.
  expect(started.at(-1)).toBe('a7');
  ends.get('a7')?.resolve(media);
  await ofOther;
  for (let count = 0; count < 2; count++) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const { reject } of ends.values()) reject(new Error('gone'));
  }
  await Promise.all(waiting);
  // Realm 1 got its own failure, realm 2 fetches the address itself.
  started.length = 0;
  const again = get(2, 'a0');
  ends.get('a0')?.resolve(media);
  expect([await again, started]).toEqual([media, ['a0']]);
});

test('a realm with many fetches does not evict the results of a realm with few', async () => {
  const { started, fetch } = manual();
  const large = { type: 'image/png', content: Buffer.alloc(100_000) };
  const get = createBoundedFetches((address) => {
    void fetch(address);
    return Promise.resolve(large);
  }, 1_000_000);
  await get(1, 'small');
  for (let count = 0; count < 50; count++) await get(2, `a${count}`);
  started.length = 0;
  await get(1, 'small');
  expect(started).toEqual([]);
});

test('a fetch is refused if too many wait', async () => {
  const { fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  for (let i = 0; i < 204; i++) get(1, `a${i}`).catch(() => undefined);
  await expect(get(1, 'last')).rejects.toThrow('too many fetches wait');
});

test('a fetch is not started if all its readers have left', async () => {
  const { started, ends, fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  const first = Array.from({ length: 4 }, (_, i) => get(1, `a${i}`));
  const readers = [new AbortController(), new AbortController(), new AbortController()];
  const [left, alsoLeft, stays] = readers.map(({ signal }, i) => get(1, i < 2 ? 'gone' : 'wanted', signal));
  const shared = get(1, 'wanted');
  readers[0]?.abort();
  readers[1]?.abort();
  await expect(left).rejects.toThrow('nobody waits');
  await expect(alsoLeft).rejects.toThrow('nobody waits');
  for (const { resolve } of ends.values()) resolve(media);
  await Promise.all(first);
  await expect.poll(() => started.at(-1)).toBe('wanted');
  ends.get('wanted')?.resolve(media);
  expect(await Promise.all([stays, shared])).toEqual([media, media]);
  expect(started).not.toContain('gone');
});
