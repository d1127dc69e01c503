import type { Database } from '@natter/database';
import { expect, test } from 'vitest';
import { type Fetching, previewsOf } from './previews-of.ts';

const job = (...urls: string[]) => ({ realm_id: 1, message_id: 1, content_hash: '', urls, is_over: false });

/** Fetches for a realm without known pages. Names that begin with `silent` are answered by `release`, with a timeout. */
function fetching() {
  const silent: (() => void)[] = [];
  const stored: unknown[] = [];
  const database = {
    any: async () => [],
    maybeOne: async () => ({ caused_by: 1, used: 0, used_by_person: 0 }),
    run: async (statement: unknown) => void stored.push(statement),
  } as unknown as Database;
  const resolve = async (name: string) => {
    const { promise, reject } = Promise.withResolvers<never>();
    if (name.startsWith('unknown')) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    silent.push(() => reject(Object.assign(new Error('no answer'), { code: 'ETIMEOUT' })));
    return promise;
  };
  const made: Fetching = {
    database,
    inTurn: (_, work) => work(),
    rules: { mayReach: () => false, resolve },
    process: { stoodStillSince: () => false } as unknown as Fetching['process'],
    names: { answeredAt: Number.NEGATIVE_INFINITY },
    signal: new AbortController().signal,
  };
  const asked = (count: number) => expect.poll(() => silent.length).toBe(count);
  const release = (): void => {
    for (const answer of silent.splice(0)) answer();
  };
  return { made, stored, asked, release };
}

test('a page whose name is not answered counts as an attempt only if another name was answered meanwhile', async () => {
  const { made, stored, asked, release } = fetching();
  const alone = previewsOf(made, job('http://silent.example/'), '');
  await asked(1);
  release();
  expect(await alone).toEqual({ html: '', isUnrequested: true, isAttempt: false });
  const beside = previewsOf(made, job('http://silent.example/'), '');
  await asked(1);
  // The name server answers that the name does not exist.
  await previewsOf(made, job('http://unknown.example/'), '');
  expect(stored).toHaveLength(1);
  release();
  expect(await beside).toEqual({ html: '', isUnrequested: true, isAttempt: true });
  expect(stored).toHaveLength(1);
});

test('answers of name servers before the look-up of a name do not count', async () => {
  const { made, asked, release } = fetching();
  await previewsOf(made, job('http://unknown.example/'), '');
  const later = previewsOf(made, job('http://silent.example/'), '');
  await asked(1);
  release();
  expect(await later).toEqual({ html: '', isUnrequested: true, isAttempt: false });
});

test('addresses that are never requested do not count as fetched pages', async () => {
  const { made, stored } = fetching();
  const refused = [
    'http://10.0.0.1/',
    'http://user:secret@name.example/',
    'http://name.example:25/',
    'ftp://name.example/',
  ];
  expect(await previewsOf(made, job(...refused), '')).toEqual({ html: '', isUnrequested: false, isAttempt: false });
  expect(stored).toEqual([]);
});
