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

test('few run at a time, fewer of one realm, and others take their turn', async () => {
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

test('a fetch in progress and a cached result are shared, and a failure is cached for a while', async () => {
  const { started, ends, fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  const both = [get(1, 'a'), get(2, 'a')];
  ends.get('a')?.resolve(media);
  expect(await Promise.all(both)).toEqual([media, media]);
  expect(await get(1, 'a')).toBe(media);
  const failing = get(1, 'b');
  ends.get('b')?.reject(new Error('gone'));
  await expect(failing).rejects.toThrow('gone');
  await expect(get(2, 'b')).rejects.toThrow('gone');
  expect(started).toEqual(['a', 'b']);
});

test('a fetch is refused if too many wait', async () => {
  const { fetch } = manual();
  const get = createBoundedFetches(fetch, 1_000_000);
  for (let i = 0; i < 204; i++) get(1, `a${i}`).catch(() => undefined);
  await expect(get(1, 'last')).rejects.toThrow('too many fetches wait');
});

test('a fetch whose readers are all gone is not begun', async () => {
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
