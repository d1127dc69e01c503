/** The realms of a run: the attacked one, replaced from time to time, and a second one that must stay unaffected. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { jwtOperations, type RequestMeta, roles, userOperations } from '@natter/contracts';
import type { System } from '@natter/local/system';
import { type Bus, connectBus, createLogger, createMetrics } from '@natter/service-kit';
import { authorizationOf } from '../../api.ts';
import { bytesOf, type Cookies, type Credentials, callOf } from '../requests/call.ts';
import { type Answer, Connection } from '../requests/connection.ts';
import { createDictionary, type Dictionary } from '../requests/dictionary.ts';
import { beginSession, tokenFor, tokenKey } from './logins.ts';

export const roleNames = [
  'owner',
  'administrator',
  'moderator',
  'member',
  'guest',
  // A member with a session, who uses /json.
  'browser',
  'bot',
  'webhook-bot',
  'spectator',
  'anonymous',
  'deactivated',
  'wrong-key',
] as const;
export type RoleName = (typeof roleNames)[number];
/** The role of the account that this caller has. */
export const roleIdOf = (role: RoleName): number => (role in roles ? roles[role as keyof typeof roles] : roles.member);
/** Callers with a valid key. */
export const withKey = (role: RoleName): boolean => roleNames.indexOf(role) <= roleNames.indexOf('webhook-bot');

// biome-ignore lint/suspicious/noExplicitAny: answers are picked apart by their readers.
export type Json = any;

export interface Person {
  email: string;
  api_key: string;
  user_id: number;
  cookies?: Cookies;
}

export interface World {
  host: string;
  realmId: number;
  dictionary: Dictionary;
  people: Map<RoleName, Person>;
  /** Authorization headers that were refused once, and must never work again. */
  ended: string[];
  credentialsOf(role: RoleName): Credentials;
  /** A new caller for this role, because the last one lost the role or the key. */
  renew(role: RoleName): Promise<void>;
}

export interface Operator {
  bus: Bus;
  url: string;
}

export async function connectOperator(system: System): Promise<Operator> {
  const log = createLogger('fuzz', 'fatal');
  return {
    bus: await connectBus({ url: system.natsUrl, name: 'operator', log, metrics: createMetrics('fuzz') }),
    url: system.url,
  };
}

export interface RealmAccess {
  id: number;
  host: string;
  person(role: keyof typeof roles, name: string, password?: string): Promise<Person>;
  call(who: Person, method: string, path: string, form?: Record<string, unknown>): Promise<Json>;
  /** A member with a session and no key. */
  browser(): Promise<Person>;
  setTokenKey(): Promise<void>;
}

/** A new realm, with functions to add users and to send requests as them. */
export async function openRealm({ bus, url }: Operator, name: string): Promise<RealmAccess> {
  const host = `${name}.natter.example`;
  const meta: RequestMeta = { requestId: 'fuzz', realmId: 0, client: 'fuzz' };
  const { realm_id: id } = await bus.call(
    userOperations.createRealm,
    { host, realm_name: name, is_default: false, realm_url: `http://${host}`, owner: undefined },
    { meta },
  );
  const realm: RealmAccess = {
    id,
    host,
    async browser() {
      const { email, user_id } = await realm.person('member', `Browser ${randomBytes(3).toString('hex')}`, password);
      return { email, user_id, api_key: '', cookies: await beginSession({ url, host }, email, password) };
    },
    async setTokenKey() {
      const key = { algorithm: 'HS256', key: tokenKey } as const;
      await bus.call(jwtOperations.setJwtKey, key, { meta: { ...meta, realmId: id } });
    },
    async person(role, fullName, password) {
      const isAdmin = roles[role] <= roles.administrator;
      for (let tries = 1; ; tries++) {
        const email = `${role}${randomBytes(4).toString('hex')}@${host}`;
        const account = { email, full_name: fullName, password, role: roles[role] };
        const rights = { can_create_users: isAdmin, can_change_user_emails: role === 'owner' };
        try {
          const made = await bus.call(
            userOperations.addPerson,
            { ...account, ...rights },
            { meta: { ...meta, realmId: id } },
          );
          return { email, ...made };
        } catch (error) {
          // A machine that is busy with other work is late at times. Whether the user was created is unknown.
          if (tries === 3) throw error;
        }
      }
    },
    async call(who, method, path, form = {}) {
      const authorization = authorizationOf(who);
      const connection = new Connection(Number(new URL(url).port));
      const bytes = bytesOf(callOf(method, path, form), { host, authorization });
      const send = (): Promise<Answer> => connection.exchange(bytes, { isHead: false, timeoutMs: 60_000 });
      let answer = await send();
      // A machine that is busy with other work is late at times.
      for (let tries = 1; answer.status === 503 && tries < 10; tries++) {
        await sleep(500);
        answer = await send();
      }
      const { status, body } = answer;
      connection.close();
      if (status !== 200) throw new Error(`${method} ${path}: ${status} ${body.toString('utf8', 0, 300)}`);
      return JSON.parse(body.toString('utf8'));
    },
  };
  return realm;
}

const password = 'correct horse fuzz';
let worlds = 0;

/** A realm to attack that contains objects of every kind. */
export async function openWorld(operator: Operator, foreign: Record<string, (string | number)[]>): Promise<World> {
  const realm = await openRealm(operator, `a${worlds++}-${randomBytes(4).toString('hex')}`);
  const dictionary = createDictionary();
  for (const [kind, values] of Object.entries(foreign))
    for (const value of values) dictionary.add(`foreign-${kind}`, value);
  const people = new Map<RoleName, Person>();
  const add = async (role: RoleName): Promise<void> => {
    const person = await makePerson(realm, people, role);
    if (!person) return;
    people.set(role, person);
    if (person.user_id === 0) return;
    dictionary.add('user', person.user_id);
    dictionary.add('email', person.email);
    if (role === 'bot' || role === 'webhook-bot') dictionary.add('bot', person.user_id);
    if (role === 'deactivated') dictionary.add('gone-user', person.user_id);
  };
  for (const role of roleNames) await add(role);
  const login = await realm.person('member', 'Lora Login', password);
  dictionary.add('login', login.email);
  await realm.setTokenKey();
  dictionary.add('token', tokenFor(login.email));
  await furnish(realm, people.get('owner') as Person, people, dictionary);
  return {
    host: realm.host,
    realmId: realm.id,
    dictionary,
    people,
    ended: [],
    credentialsOf(role) {
      const person = people.get(role);
      const authorization = person && person.api_key !== '' ? authorizationOf(person) : undefined;
      return { host: realm.host, authorization, cookies: person?.cookies };
    },
    renew: (role) => add(role),
  };
}

async function makePerson(
  realm: RealmAccess,
  people: ReadonlyMap<RoleName, Person>,
  role: RoleName,
): Promise<Person | undefined> {
  switch (role) {
    case 'spectator':
    case 'anonymous':
      return { email: '', api_key: '', user_id: 0 };
    case 'wrong-key':
      return { email: people.get('member')?.email ?? '', api_key: randomBytes(16).toString('hex'), user_id: 0 };
    case 'deactivated': {
      const person = await realm.person('member', 'Gone Gregor');
      const owner = await realm.person('owner', 'Olga Owner');
      await realm.call(owner, 'DELETE', `/users/${person.user_id}`);
      return person;
    }
    case 'browser':
      return realm.browser();
    case 'bot':
    case 'webhook-bot': {
      // Its owner is not used as a caller, so the bot outlives the callers.
      const owner = await realm.person('member', 'Berta Botowner');
      const made = await realm
        .call(owner, 'POST', '/bots', {
          full_name: `Bot ${randomBytes(3).toString('hex')}`,
          short_name: `b${randomBytes(4).toString('hex')}`,
          bot_type: role === 'bot' ? 1 : 2,
        })
        .catch(() => undefined);
      if (!made) return undefined;
      const { bots } = await realm.call(owner, 'GET', '/bots');
      return { email: String(bots[0]?.username), api_key: String(made.api_key), user_id: Number(made.user_id) };
    }
    default:
      return realm.person(role, `${role[0]?.toUpperCase()}${role.slice(1)} ${randomBytes(3).toString('hex')}`);
  }
}

/** Channels, messages, a file and other objects, so that ids exist from the start. */
async function furnish(
  realm: RealmAccess,
  owner: Person,
  people: ReadonlyMap<RoleName, Person>,
  dictionary: Dictionary,
): Promise<void> {
  const principals = [...people.values()].map((person) => person.user_id).filter((id) => id > 0);
  const gone = people.get('deactivated')?.user_id;
  await realm.call(owner, 'PATCH', '/realm', { enable_spectator_access: true });
  for (const [name, settings] of [
    ['general', {}],
    ['web', { is_web_public: true }],
    ['secretive', { invite_only: true }],
  ] as const) {
    await realm.call(owner, 'POST', '/users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: principals.filter((id) => id !== gone),
      ...settings,
    });
    const { stream_id } = await realm.call(owner, 'GET', '/get_stream_id', { stream: name });
    dictionary.add('channel', stream_id);
    dictionary.add('channel-name', name);
    if (name !== 'secretive') dictionary.add('open-channel', stream_id);
    for (const content of ['hello', 'a second one with #**general>lunch**', '/poll Lunch?\nyes\nno']) {
      const { id } = await realm.call(owner, 'POST', '/messages', {
        type: 'stream',
        to: stream_id,
        topic: 'lunch',
        content,
      });
      dictionary.add('message', id);
      if (content.startsWith('/poll')) dictionary.add('widget', id);
    }
  }
  dictionary.add('topic', 'lunch');
  const { user_groups } = await realm.call(owner, 'GET', '/user_groups');
  for (const group of user_groups) dictionary.add('group', group.id);
}
