import { expect, test } from 'vitest';
import { createBoundedFetches, type Reader } from './bounded-fetches.ts';
import type { Media } from './fetch-media.ts';

const media: Media = { type: 'image/png', content: Buffer.alloc(10) };

const from = (realmId: number, requester = 'a'): Reader => ({ realmId, requester });

/** Fetches that end when the test ends them. */
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

test('few fetches run at a time, with lower limits for one realm and one requester', async () => {
  const { started, ends, fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  const all: Promise<Media>[] = [];
  const ask = (realmId: number, requester: string, prefix: string) => {
    for (let i = 0; i < 6; i++) all.push(get(from(realmId, requester), `${prefix}${i}`));
  };
  ask(1, 'x', 'ax');
  expect(started).toEqual(['ax0', 'ax1', 'ax2', 'ax3']);
  for (const requester of ['y', 'z']) ask(1, requester, `a${requester}`);
  expect(started.slice(4)).toEqual(['ay0', 'ay1', 'ay2', 'ay3']);
  for (const requester of ['x', 'y', 'z']) ask(2, requester, `b${requester}`);
  expect(started.length).toBe(16);
  for (const first of ['ax0', 'ax1']) ends.get(first)?.resolve(media);
  await Promise.all(all.slice(0, 2));
  await expect.poll(() => started.slice(16).toSorted()).toEqual(['ax4', 'az0']);
  const endAll = (): number => {
    for (const { resolve } of ends.values()) resolve(media);
    return ends.size;
  };
  await expect.poll(endAll).toBe(36);
  endAll();
  expect((await Promise.all(all)).length).toBe(36);
});

test('nobody waits in the line of a requester who asked for the same address earlier', async () => {
  const { started, ends, fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  const slow = Array.from({ length: 20 }, (_, i) => get(from(1, 'hostile'), `slow${i}`));
  const same = get(from(1, 'hostile'), 'picture');
  const wanted = get(from(1, 'reader'), 'picture');
  expect(started).toEqual(['slow0', 'slow1', 'slow2', 'slow3', 'picture']);
  // A fetch that runs is shared.
  const late = get(from(1, 'late'), 'picture');
  ends.get('picture')?.resolve(media);
  expect(await Promise.all([wanted, late])).toEqual([media, media]);
  const endAll = (): number => {
    for (const { resolve } of ends.values()) resolve(media);
    return ends.size;
  };
  await expect.poll(endAll).toBe(21);
  endAll();
  expect(await Promise.all([...slow, same])).toHaveLength(21);
  expect(started.filter((address) => address === 'picture')).toHaveLength(1);
});

test('requests of one realm share fetches in progress, cached results and, for a while, failures', async () => {
  const { started, ends, fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  const both = [get(from(1), 'a'), get(from(1), 'a')];
  ends.get('a')?.resolve(media);
  expect(await Promise.all(both)).toEqual([media, media]);
  expect(await get(from(1), 'a')).toBe(media);
  const failing = get(from(1), 'b');
  ends.get('b')?.reject(new Error('gone'));
  await expect(failing).rejects.toThrow('gone');
  await expect(get(from(1), 'b')).rejects.toThrow('gone');
  expect(started).toEqual(['a', 'b']);
});

test('a realm cannot detect that another realm has read an address or waits for it', async () => {
  const { started, ends, fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  const waiting = Array.from({ length: 8 }, (_, i) => get(from(1), `a${i}`).catch(() => undefined));
  const ofOther = get(from(2), 'a7');
  // The fetch of realm 2 does not wait for those of realm 1.
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
  const again = get(from(2), 'a0');
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
  await get(from(1), 'small');
  for (let count = 0; count < 50; count++) await get(from(2), `a${count}`);
  started.length = 0;
  await get(from(1), 'small');
  expect(started).toEqual([]);
});

test('a fetch is refused if too many wait', async () => {
  const { fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  for (let i = 0; i < 208; i++) get(from(1, `${i}`), `a${i}`).catch(() => undefined);
  await expect(get(from(1), 'last')).rejects.toThrow('too many fetches wait');
});

test('a fetch is not started if all its readers have left', async () => {
  const { started, ends, fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  const first = Array.from({ length: 4 }, (_, i) => get(from(1), `a${i}`));
  const readers = [new AbortController(), new AbortController(), new AbortController()];
  const [left, alsoLeft, stays] = readers.map(({ signal }, i) => get(from(1), i < 2 ? 'gone' : 'wanted', signal));
  const shared = get(from(1), 'wanted');
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
