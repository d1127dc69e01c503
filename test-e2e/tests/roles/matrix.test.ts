import { type Answer, Client, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { uploadTo } from '../upload.ts';
import type { Cell, Row, Table } from './cell.ts';
import { channelsTable } from './table-channels.ts';
import { messagesTable } from './table-messages.ts';
import { peopleTable } from './table-people.ts';

const tables: Table = { ...peopleTable, ...channelsTable, ...messagesTable };
const letters = ['o', 'a', 'm', 'u', 'g', 'b', 's', 'd', 'x'] as const;
type Letter = (typeof letters)[number];
const roles = { o: 'owner', a: 'administrator', m: 'moderator', u: 'member', g: 'guest' } as const;

interface World extends Pick<Cell, 'realm' | 'bot' | 'channel' | 'channelName' | 'open' | 'message'> {
  deactivated: Client;
  stranger: Client;
}
let world: World;
let elsewhere: Realm;
let count = 0;

beforeAll(async () => {
  elsewhere = await openRealm();
  world = await openWorld();
});

/** A realm with everybody who calls, a channel for all of them, and one open to the web. */
async function openWorld(): Promise<World> {
  const realm = await openRealm();
  realm.member2 = await realm.person({ hasPassword: true });
  await realm.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  await elsewhere.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  const bot = await botOf(realm);
  const all = [realm.owner, realm.administrator, realm.moderator, realm.member, realm.guest, bot];
  const subscribers = all.map(({ user_id }) => user_id);
  const channelName = `for all ${++count}`;
  const { id: channel } = await realm.owner.ok('POST', '/channels/create', { name: channelName, subscribers });
  const { id: open } = await realm.owner.ok('POST', '/channels/create', {
    name: `open ${count}`,
    subscribers: [],
    is_web_public: true,
  });
  const { id: message } = await realm.owner.ok('POST', '/messages', {
    type: 'stream',
    to: channel,
    topic: 'roles',
    content: 'read by all',
  });
  const deactivated = await realm.person({ role: 'administrator' });
  await realm.owner.ok('DELETE', `/users/${deactivated.user_id}`);
  return { realm, bot, channel, channelName, open, message, deactivated, stranger: elsewhere.owner };
}

async function botOf({ member }: Realm): Promise<Client> {
  const n = ++count;
  const full_name = `Caller ${n}`;
  const made = await member.ok('POST', '/bots', { full_name, short_name: `caller${n}` });
  const { email } = (await member.ok('GET', `/users/${made.user_id}`)).user;
  return new Client(member, { ...made, email, full_name });
}

async function callerOf(letter: Letter, row: Row, { realm, bot, deactivated, stranger }: World): Promise<Client> {
  if (letter === 's') return realm.spectator;
  if (letter === 'd') return deactivated;
  if (letter === 'x') {
    if (row.isOwnRealm) return (await openRealm()).owner;
    return row.isLast ? elsewhere.person({ role: 'owner' }) : stranger;
  }
  if (letter === 'b') return row.isLast ? botOf(realm) : bot;
  return row.isLast ? realm.person({ role: roles[letter] }) : realm[roles[letter]];
}

async function send(operation: string, who: Client, row: Row, cell: Cell): Promise<Answer> {
  const [method = '', pattern = ''] = operation.split(' ');
  const at = (await row.at?.(cell)) ?? {};
  const form = (await row.form?.(cell, at)) ?? {};
  const path = pattern.replace(/\{(\w+)\}/g, (_, name) => String(at[name]));
  return row.file ? uploadTo(who, path, form) : who.send(method, path, form);
}

/** What the caller is told: ok, or why not. */
function told({ status, body }: Answer): string {
  if (status < 400) return 'ok';
  if (typeof body === 'object' && body.code) return body.code;
  return String(status);
}

async function outcomeOf(operation: string, row: Row, letter: Letter): Promise<string> {
  const here = row.isOwnRealm && letter !== 'x' ? await openWorld() : world;
  const who = await callerOf(letter, row, here);
  const isHere = !['s', 'd', 'x'].includes(letter);
  const own = isHere ? who : row.isLast ? await here.realm.person() : here.realm.member;
  return told(await send(operation, who, row, { ...here, own, n: ++count }));
}

function expectedOf(may: string, row: Row, letter: Letter, isForAnyone: boolean): string[] {
  if (may.includes(letter)) return ['ok'];
  if (letter === 's' && !isForAnyone) return ['UNAUTHORIZED'];
  if (letter === 'd' && !isForAnyone) return ['USER_DEACTIVATED'];
  const no = row.no ?? 'BAD_REQUEST';
  return (letter === 'x' ? (row.x ?? no) : no).split(' ');
}

describe.each(Object.entries(tables))('%s', (operation, [may, row = {}]) => {
  // A page, and what names its own right in its parameters, asks nobody who they are.
  const isForAnyone = operation.includes(' //') || row.isAsked === false || may.includes('d');
  test('who may', { timeout: 120_000 }, async () => {
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
test.each(personal)('$operation does nothing with what is somebody else’s', async ({ operation, row }) => {
  const { realm } = world;
  const cell = { ...world, own: row.isLast ? await realm.person() : realm.member, n: ++count };
  const who = await realm.person({ role: 'owner' });
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: world.channelName }],
    principals: [who.user_id],
  });
  expect(told(await send(operation, who, row, cell))).toBe(row.others);
});

test('a key of one realm is none in another', async () => {
  const { realm, stranger } = world;
  const outside = new Client(realm.spectator, stranger);
  for (const [operation, [, row = {}]] of Object.entries(tables)) {
    const [method = '', pattern = ''] = operation.split(' ');
    if (
      pattern.startsWith('//') ||
      ['/server_settings', '/fetch_api_key', '/dev_fetch_api_key', '/join'].includes(pattern)
    )
      continue;
    if (pattern.startsWith('/realm/subdomain')) continue;
    const path = pattern.replace(/\{\w+\}/g, '1');
    const answer = row.file ? await uploadTo(outside, path) : await outside.send(method, path);
    expect([operation, answer.status, answer.body.code]).toEqual([operation, 401, 'INVALID_API_KEY']);
  }
});

test('every operation has a row', async () => {
  const { body } = await world.realm.spectator.get('//openapi.json');
  const declared = Object.entries<Record<string, { servers?: unknown }>>(body.paths).flatMap(([path, methods]) =>
    // What stands outside the API is written with a second slash.
    Object.entries(methods).map(([method, { servers }]) => `${method.toUpperCase()} ${servers ? '/' : ''}${path}`),
  );
  expect(Object.keys(tables).sort()).toEqual(declared.sort());
});
