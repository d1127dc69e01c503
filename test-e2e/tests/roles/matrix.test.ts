import { Client, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { untilServed } from '../../patience.ts';
import { uploadTo } from '../upload.ts';
import type { Row } from './cell.ts';
import { callerOf, type Letter, letters, nextNumber, openWorld, send, tables, type World } from './world.ts';

let world: World;
let elsewhere: Realm;

beforeAll(async () => {
  elsewhere = await openRealm();
  world = await openWorld(elsewhere);
});

/** The result: ok, or the reason of the refusal. */
function told({ status, body }: Awaited<ReturnType<typeof send>>): string {
  if (status < 400) return 'ok';
  if (typeof body === 'object' && body.code) return body.code;
  return String(status);
}

async function outcomeOf(operation: string, row: Row, letter: Letter): Promise<string> {
  const here = row.isOwnRealm && letter !== 'x' ? await openWorld(elsewhere) : world;
  const who = await callerOf(letter, row, here);
  const isHere = !['s', 'd', 'x'].includes(letter);
  const own = isHere ? who : row.isLast ? await here.realm.person() : here.realm.member;
  return told(await send(operation, who, row, { ...here, own, n: nextNumber() }));
}

function expectedOf(may: string, row: Row, letter: Letter, isForAnyone: boolean): string[] {
  if (may.includes(letter)) return ['ok'];
  if (letter === 's' && !isForAnyone) return ['UNAUTHORIZED'];
  if (letter === 'd' && !isForAnyone) return ['USER_DEACTIVATED'];
  const no = row.no ?? 'BAD_REQUEST';
  return (letter === 'x' ? (row.x ?? no) : no).split(' ');
}

describe.each(Object.entries(tables))('%s', (operation, [may, row = {}]) => {
  // Pages, and operations whose parameters contain their own credential, ignore the caller.
  const isForAnyone = operation.includes(' //') || row.isAsked === false || may.includes('d');
  test('allows only the listed callers', async () => {
    const found: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const letter of letters) {
      const outcome = await outcomeOf(operation, row, letter);
      const allowed = expectedOf(may, row, letter, isForAnyone);
      found[letter] = outcome;
      expected[letter] = allowed.includes(outcome) ? outcome : allowed.join(' or ');
    }
    expect(found).toEqual(expected);
  });
});

const personal = Object.entries(tables).flatMap(([operation, [, row]]) => (row?.others ? [{ operation, row }] : []));
test.each(personal)('$operation has no effect on objects of other users', async ({ operation, row }) => {
  const { realm } = world;
  const cell = { ...world, own: row.isLast ? await realm.person() : realm.member, n: nextNumber() };
  const who = await realm.person({ role: 'owner' });
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: world.channelName }],
    principals: [who.user_id],
  });
  expect(told(await send(operation, who, row, cell))).toBe(row.others);
});

test('a key of one realm is rejected in another', async () => {
  const { realm } = world;
  // After 20 wrong keys for an address, the next one from the same network has to wait.
  let asked = 0;
  let outside = realm.spectator;
  for (const [operation, [, row = {}]] of Object.entries(tables)) {
    const [method = '', pattern = ''] = operation.split(' ');
    if (
      pattern.startsWith('//') ||
      ['/server_settings', '/fetch_api_key', '/jwt/fetch_api_key', '/dev_fetch_api_key', '/join'].includes(pattern)
    )
      continue;
    if (pattern.startsWith('/realm/subdomain')) continue;
    const path = pattern.replace(/\{\w+\}/g, '1');
    if (asked++ % 20 === 0) outside = new Client(realm.spectator, await elsewhere.person({ role: 'owner' }));
    const from = outside;
    const answer = await (row.file ? uploadTo(from, path) : untilServed(() => from.send(method, path)));
    expect([operation, answer.status, answer.body.code]).toEqual([operation, 401, 'INVALID_API_KEY']);
  }
});

test('every operation has a row in the tables', async () => {
  const { body } = await world.realm.spectator.get('//openapi.json');
  const declared = Object.entries<Record<string, { servers?: unknown }>>(body.paths).flatMap(([path, methods]) =>
    // Paths outside the API are written with a second slash.
    Object.entries(methods).map(([method, { servers }]) => `${method.toUpperCase()} ${servers ? '/' : ''}${path}`),
  );
  // An alias of another path, which is not documented.
  const alias = 'GET /user_uploads/{realm_id_str}/{folder}/{token}/{filename}';
  expect(Object.keys(tables).sort()).toEqual([...declared, alias].sort());
});
