import { expect, test } from 'vitest';
import { keyOf, topicPlace } from '../state/place.ts';
import type { Uploaded } from './upload.ts';
import { linkAfter, Uploads } from './uploads.ts';

const place = topicPlace(1, 'files');
const key = keyOf(place);
const draft = { key, place };
const file = (name: string, size = 3): File => new File([new Uint8Array(size)], name);

interface Sending {
  signal: AbortSignal;
  progress: (bytes: number) => void;
  end: (uploaded: Uploaded) => Promise<void>;
  fail: () => Promise<void>;
}

/** The test ends each sending itself. */
function started() {
  const sendings: Sending[] = [];
  const appended: [string, string][] = [];
  const uploads = new Uploads({
    maxMebibytes: () => 1,
    append: (to, { filename }) => void appended.push([to.key, filename]),
    send: (_file, { signal, onProgress: progress }) => {
      const { promise, resolve, reject } = Promise.withResolvers<Uploaded>();
      const settled = () => new Promise<void>((done) => setTimeout(done));
      const end = (uploaded: Uploaded): Promise<void> => {
        resolve(uploaded);
        return settled();
      };
      const fail = (): Promise<void> => {
        reject(new Error('no space'));
        return settled();
      };
      sendings.push({ signal, progress, end, fail });
      return promise;
    },
  });
  return { uploads, sendings, appended };
}
const named = (filename: string): Uploaded => ({ filename, url: `/user_uploads/${filename}` });

test('an upload continues while its text box is hidden, and its link is added to the draft', async () => {
  const { uploads, sendings, appended } = started();
  const boxed: string[] = [];
  const hide = uploads.insertInto(key, ({ filename }) => void boxed.push(filename));
  uploads.add(draft, [file('one'), file('two')]);
  await sendings[0]?.end(named('one'));
  hide();
  expect(sendings[1]?.signal.aborted).toBe(false);
  sendings[1]?.progress(2);
  expect(uploads.of(key).map(({ name, sent }) => [name, sent])).toEqual([['two', 2]]);
  expect(uploads.of('another')).toEqual([]);
  await sendings[1]?.end(named('two'));
  expect([boxed, appended]).toEqual([['one'], [[key, 'two']]]);
  expect(uploads.of(key)).toEqual([]);
});

test('an upload follows its conversation when that moves', async () => {
  const { uploads, sendings, appended } = started();
  uploads.add(draft, [file('one')]);
  const there = topicPlace(1, 'renamed');
  uploads.carry(key, { key: keyOf(there), place: there });
  sendings[0]?.progress(2);
  expect(uploads.of(keyOf(there)).map(({ name, sent }) => [name, sent])).toEqual([['one', 2]]);
  expect(uploads.of(key)).toEqual([]);
  await sendings[0]?.end(named('one'));
  expect(appended).toEqual([[keyOf(there), 'one']]);
  expect(uploads.of(keyOf(there))).toEqual([]);
});

test('the link of an upload to an edit is added to the edit, and none of an edit that was given up', async () => {
  const { uploads, sendings, appended } = started();
  const edits: string[] = [];
  const edit = (id: number) => ({
    key: `edit ${id}`,
    place: undefined,
    append: ({ filename }: Uploaded) => void edits.push(filename),
  });
  uploads.add(edit(1), [file('one')]);
  uploads.add(edit(2), [file('two'), file('three')]);
  uploads.removeAll('edit 2');
  expect(sendings.map(({ signal }) => signal.aborted)).toEqual([false, true, true]);
  for (const [at, name] of ['one', 'two', 'three'].entries()) await sendings[at]?.end(named(name));
  expect([edits, appended, uploads.of('edit 1'), uploads.of('edit 2')]).toEqual([['one'], [], [], []]);
});

test('the links of files that were chosen together come in the order of choice, without those that fail', async () => {
  const { uploads, sendings, appended } = started();
  const names = () => appended.map(([, name]) => name);
  uploads.add(
    draft,
    ['one', 'two', 'three', 'four'].map((name) => file(name)),
  );
  uploads.add(draft, [file('later')]);
  await sendings[3]?.end(named('four'));
  await sendings[2]?.end(named('three'));
  await sendings[4]?.end(named('later'));
  expect(names()).toEqual(['later']);
  await sendings[1]?.fail();
  expect([names(), uploads.isBusy]).toEqual([['later'], true]);
  const [one] = uploads.of(key);
  if (!one) throw new Error('The first upload is missing');
  uploads.remove(key, one);
  expect([names(), uploads.isBusy]).toEqual([['later', 'three', 'four'], false]);
  expect(uploads.of(key).map(({ name }) => name)).toEqual(['two']);
});

test('a text box that reappears gets the link, even if the old one closes later', async () => {
  const { uploads, sendings, appended } = started();
  const boxed: string[] = [];
  const hide = uploads.insertInto(key, () => void boxed.push('before'));
  uploads.add(draft, [file('one')]);
  uploads.insertInto(key, ({ filename }) => void boxed.push(filename));
  hide();
  await sendings[0]?.end(named('one'));
  expect([boxed, appended]).toEqual([['one'], []]);
});

test('a failure stays until it is removed, and a cancelled upload leaves no entry', async () => {
  const { uploads, sendings, appended } = started();
  uploads.add(draft, [file('failing'), file('cancelled'), file('large', 1024 * 1024 + 1)]);
  await sendings[0]?.fail();
  const [failing, cancelled] = uploads.of(key);
  if (!failing || !cancelled) throw new Error('The uploads are missing');
  expect(failing.problem).toBe('no space');
  uploads.remove(key, cancelled);
  expect(sendings[1]?.signal.aborted).toBe(true);
  await sendings[1]?.end(named('cancelled'));
  uploads.remove(key, failing);
  expect(uploads.of(key).map(({ problem }) => problem)).toEqual(['The file is larger than 1 MiB.']);
  expect([sendings.length, appended]).toEqual([2, []]);
});

test.each([
  ['', 'a.png', '[a.png](/f)\n'],
  ['See', 'a.png', '\n[a.png](/f)\n'],
  ['See ', 'a [1]`.png', '[a  1  .png](/f)\n'],
])('after %j, the link to %j is %j', (text, filename, expected) => {
  expect(linkAfter(text, { filename, url: '/f' })).toBe(expected);
});
