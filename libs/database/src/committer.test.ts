import type { LogEvent } from '@natter/contracts';
import { afterEach, expect, test, vi } from 'vitest';
import { afterCommit } from './after-commit.ts';
import { KeyTaken } from './claim.ts';
import { createCommitter } from './committer.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { currentDeadline } from './deadline.ts';

afterEach(() => void vi.useRealTimers());

const numbers = { first: 1, marks: null, previous_mark: 0, at: 0 };
const sqlError = (code: string, properties = {}): Error => Object.assign(new Error(code), { code, ...properties });
const changedRow = (realm_id: number): Error =>
  sqlError('NT409', { message: 'row changed: preference', detail: JSON.stringify({ realm_id, user_id: 1 }) });

const takenKey = (key: string): Error => {
  const detail = `Key (realm_id, user_id, key)=(1, 1, ${key}) already exists.`;
  return sqlError('23505', { constraint: 'idempotency_pkey', detail });
};

/** A committer on a stand-in of Postgres. `failure`: the error of a transaction that contains these keys. */
function committer(failure: (keys: string[]) => Error | undefined) {
  /** The keys of each transaction. */
  const transactions: string[][] = [];
  const query = async (message: string): Promise<unknown> => {
    const realms = [...message.matchAll(/"realm_id":(\d+),"basis"/g)].map(([, id]) => Number(id));
    const keys = [...message.matchAll(/"written":"([^"]+)"/g)].map(([, key]) => String(key));
    if (keys.length === 0) return [];
    transactions.push(keys);
    const error = failure(keys);
    if (error) throw error;
    const shared = realms.map((realm_id) => ({ realm_id, ...numbers }));
    return [
      { fields: [{ name: 'appended' }], rows: [{ appended: shared.length > 0 ? shared : numbers }] },
      { fields: [{ name: 'ended' }], rows: [{ ended: numbers.at }] },
    ];
  };
  const connect = (work: (connection: Connection) => unknown) => work({ deadline: currentDeadline(), query } as never);
  const ignored = afterCommit(
    () => undefined,
    () => undefined,
  );
  const commits = createCommitter(
    { connect } as unknown as Database,
    'users',
    ignored,
    () => new Error('full') as never,
  );
  const write = (realmId: number, key: string, isNamed = false) =>
    commits(realmId, {
      expected: {},
      events: [{ type: 'tick', body: { written: key }, audience: 'realm' } as unknown as LogEvent],
      numbered: () => [],
      answer: { named: 'id', rest: {} },
      claim: isNamed ? { userId: 1, namedBy: 'key', key, fingerprint: '' } : undefined,
    });
  return { transactions, write };
}

const realms = [...Array(64).keys()].map((index) => index + 1);
const isOf = (realm: number) => (key: string) => key.startsWith(`${realm} `);

test('realms that make a shared transaction fail do not end the sharing of the others', async () => {
  const bad = [7, 30];
  const { transactions, write } = committer((keys) => bad.filter((realm) => keys.some(isOf(realm))).map(changedRow)[0]);
  const all = await Promise.allSettled(realms.map((realm) => write(realm, `${realm} one`, true)));
  expect(realms.filter((_, index) => all[index]?.status === 'rejected')).toEqual(bad);
  expect(transactions.map((keys) => keys.length)).toEqual([64, 63, 62]);
});

test('a used key refuses only its write, in one transaction', async () => {
  const used = [3, 20, 99].map((nth) => `1 ${nth}`);
  const { transactions, write } = committer((keys) => used.filter((key) => keys.includes(key)).map(takenKey)[0]);
  const keys = [...Array(100).keys()].map((nth) => `1 ${nth}`);
  const all = await Promise.allSettled(keys.map((key) => write(1, key, true)));
  expect(keys.filter((_, index) => all[index]?.status === 'rejected')).toEqual(used);
  expect(transactions.map(({ length }) => length)).toEqual([100, 99, 98, 97]);
});

test('a write whose key another one has waits for it, without a transaction, and is refused if that one was committed', async () => {
  const { transactions, write } = committer(() => undefined);
  const all = await Promise.allSettled([...Array(100).keys()].map((nth) => write(1, `1 ${nth % 30}`, true)));
  expect(all.slice(0, 30).every(({ status }) => status === 'fulfilled')).toBe(true);
  for (const one of all.slice(30)) expect(one).toMatchObject({ status: 'rejected', reason: expect.any(KeyTaken) });
  expect(transactions).toHaveLength(1);
});

test('a write whose key another one has goes on if that one fails', async () => {
  let isBad = true;
  const { transactions, write } = committer((keys) => {
    if (!isBad || !keys.includes('1 twice')) return undefined;
    isBad = false;
    return takenKey('1 twice');
  });
  const keys = ['1 twice', '1 other', '1 twice', '1 twice'];
  const all = await Promise.allSettled(keys.map((key) => write(1, key, true)));
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'rejected']);
  expect(transactions).toEqual([['1 twice', '1 other'], ['1 other'], ['1 twice']]);
});

test('writes with used keys that arrive meanwhile do not hold up a batch', async () => {
  const { transactions, write } = committer((keys) => {
    const used = keys.find((key) => key.startsWith('1 used'));
    if (used === undefined) return undefined;
    if (transactions.length < 20) void write(1, `1 used ${transactions.length}`, true).catch(() => undefined);
    return takenKey(used);
  });
  await Promise.allSettled(['1 used', '1 good'].map((key) => write(1, key, true)));
  expect(transactions.slice(0, 2)).toEqual([['1 used', '1 good'], ['1 good']]);
});

test('a write that waits for a row is divided from the others, which are committed first', async () => {
  let attempts = 0;
  const { transactions, write } = committer((keys) => {
    if (!keys.includes('1 locked') || (keys.length === 1 && ++attempts > 3)) return undefined;
    return sqlError('55P03');
  });
  const ended: string[] = [];
  const keys = [...Array(100).keys()].map((nth) => (nth === 0 ? '1 locked' : `1 ${nth}`));
  await Promise.all(keys.map(async (key) => ended.push(await write(1, key).then(() => key))));
  expect(ended.at(-1)).toBe('1 locked');
  expect(transactions.slice(-3)).toEqual(Array(3).fill(['1 locked']));
  // The batch, two halves of it on each of six levels, and the later attempts of the write.
  expect(transactions).toHaveLength(1 + 2 * 6 + 3);
});

test('if an error names no realm, the realms are divided until the one that fails is alone', async () => {
  const { transactions, write } = committer((keys) =>
    keys.length > 1 && keys.some(isOf(7)) ? sqlError('55P03') : undefined,
  );
  await Promise.all(realms.map((realm) => write(realm, `${realm} one`)));
  expect(transactions.length).toBeLessThanOrEqual(14);
});

test('a realm that made a shared transaction fail has its own transactions for a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let isBad = true;
  const { transactions, write } = committer((keys) => (isBad && keys.some(isOf(7)) ? changedRow(7) : undefined));
  const round = () => Promise.allSettled(realms.map((realm) => write(realm, `${realm} one`)));
  const sizes = () => transactions.splice(0).map((keys) => keys.length);
  await round();
  sizes();
  isBad = false;
  await round();
  expect(sizes()).toEqual([1, 63]);
  vi.advanceTimersByTime(1_000);
  await round();
  expect(sizes()).toEqual([64]);
});
