import { type Answer, Client, openRealm, type Realm } from '@natter/testkit';
import { uploadTo } from '../upload.ts';
import type { Cell, Row, Table } from './cell.ts';
import { channelsTable } from './table-channels.ts';
import { messagesTable } from './table-messages.ts';
import { peopleTable } from './table-people.ts';

/** The rows of all operations. */
export const tables: Table = { ...peopleTable, ...channelsTable, ...messagesTable };
export const letters = ['o', 'a', 'm', 'u', 'g', 'b', 's', 'd', 'x'] as const;
export type Letter = (typeof letters)[number];
const roles = { o: 'owner', a: 'administrator', m: 'moderator', u: 'member', g: 'guest' } as const;

export interface World extends Pick<Cell, 'realm' | 'bot' | 'channel' | 'channelName' | 'open' | 'message'> {
  deactivated: Client;
  stranger: Client;
  elsewhere: Realm;
}
let count = 0;
/** Unique per call. */
export const nextNumber = (): number => ++count;

/** A realm with all callers, a channel for all of them, and a web-public one. */
export async function openWorld(elsewhere: Realm): Promise<World> {
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
  return { realm, bot, channel, channelName, open, message, deactivated, stranger: elsewhere.owner, elsewhere };
}

async function botOf({ member }: Realm): Promise<Client> {
  const n = ++count;
  const full_name = `Caller ${n}`;
  const made = await member.ok('POST', '/bots', { full_name, short_name: `caller${n}` });
  const { email } = (await member.ok('GET', `/users/${made.user_id}`)).user;
  return new Client(member, { ...made, email, full_name });
}

export async function callerOf(
  letter: Letter,
  row: Row,
  { realm, bot, deactivated, stranger, elsewhere }: World,
): Promise<Client> {
  if (letter === 's') return realm.spectator;
  if (letter === 'd') return deactivated;
  if (letter === 'x') {
    if (row.isOwnRealm) return (await openRealm()).owner;
    return row.isLast ? elsewhere.person({ role: 'owner' }) : stranger;
  }
  if (letter === 'b') return row.isLast ? botOf(realm) : bot;
  return row.isLast ? realm.person({ role: roles[letter] }) : realm[roles[letter]];
}

async function requestOf(operation: string, row: Row, cell: Cell) {
  const [method = '', pattern = ''] = operation.split(' ');
  const at = (await row.at?.(cell)) ?? {};
  const form = (await row.form?.(cell, at)) ?? {};
  const path = pattern.replace(/\{(\w+)\}/g, (_, name) => String(at[name]));
  return { method, path, form };
}

/** A request of an operation that can be sent more than once, under a key. */
export async function prepare(operation: string, row: Row, cell: Cell) {
  const { method, path, form } = await requestOf(operation, row, cell);
  return (who: Client, headers: Record<string, string> = {}): Promise<Answer> =>
    row.file
      ? uploadTo(who, path, form, { headers })
      : who.patiently(method, path, form, { ...row.headers, ...headers });
}

export async function send(operation: string, who: Client, row: Row, cell: Cell): Promise<Answer> {
  const { method, path, form } = await requestOf(operation, row, cell);
  return row.file ? uploadTo(who, path, form) : who.patiently(method, path, form, row.headers);
}
