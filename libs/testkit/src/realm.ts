import { randomBytes } from 'node:crypto';
import { jwtOperations, type ParamsOf, type RequestMeta, roles, userOperations } from '@natter/contracts';
import { type Bus, connectBus, createLogger, createMetrics } from '@natter/service-kit';
import { inject } from 'vitest';
import { Client } from './client.ts';

interface Person {
  role?: keyof typeof roles;
  full_name?: string;
  email?: string;
  /**
   * Whether the user can log in with a password; all have an API key. Hashing a password takes as long as in
   * production.
   */
  hasPassword?: boolean;
}

export interface Realm {
  id: number;
  host: string;
  owner: Client;
  administrator: Client;
  moderator: Client;
  member: Client;
  member2: Client;
  guest: Client;
  /** A client without authentication. */
  spectator: Client;
  /** Creates another user. */
  person(options?: Person): Promise<Client>;
  /** Sets the key of tokens as the operator's command does; without arguments it is removed. */
  setJwtKey(algorithm?: ParamsOf<typeof jwtOperations.setJwtKey>['algorithm'], key?: string): Promise<void>;
  /** Revokes all keys of a user as the operator's command does. */
  revokeKeys(email: string): Promise<void>;
}

/** On a busy machine a realm and its passwords take longer than usual. A repeated call would make another account. */
const timeoutMs = 120_000;

const bus = lazily(() =>
  connectBus({
    url: inject('natterNatsUrl'),
    name: 'operator',
    log: createLogger('testkit', 'fatal'),
    metrics: createMetrics('testkit'),
  }),
);

/**
 * A fresh realm in the shared system with a user of each role. Users have passwords only if the file requests them.
 * Owner and administrator may create users; the owner may also change addresses.
 */
export async function openRealm({ havePasswords = false }: { havePasswords?: boolean } = {}): Promise<Realm> {
  const url = inject('natterUrl');
  const name = `r${randomBytes(5).toString('hex')}`;
  const host = `${name}.natter.example`;
  const at = { url, host };
  const meta: RequestMeta = { requestId: 'testkit', realmId: 0, client: 'testkit' };
  const connection: Bus = await bus();
  const { realm_id } = await connection.call(
    userOperations.createRealm,
    { host, realm_name: name, is_default: false, realm_url: `http://${host}`, owner: undefined },
    { meta, timeoutMs },
  );
  const realmMeta = { ...meta, realmId: realm_id };
  let count = 0;
  const create: Realm['person'] = async ({ role = 'member', full_name, email, hasPassword = havePasswords } = {}) => {
    const number = ++count;
    const account = {
      email: email ?? `${role}${number}@${host}`,
      full_name: full_name ?? `${role[0]?.toUpperCase()}${role.slice(1)} ${number}`,
      password: hasPassword ? `correct horse ${randomBytes(6).toString('hex')}` : undefined,
    };
    const isAdmin = role === 'owner' || role === 'administrator';
    const made = await connection.call(
      userOperations.addPerson,
      { ...account, role: roles[role], can_create_users: isAdmin, can_change_user_emails: role === 'owner' },
      { meta: realmMeta, timeoutMs },
    );
    return new Client(at, { ...account, ...made });
  };
  const owner = await create({ role: 'owner' });
  const administrator = await create({ role: 'administrator' });
  const moderator = await create({ role: 'moderator' });
  const member = await create();
  const member2 = await create();
  const guest = await create({ role: 'guest' });
  await Promise.all([owner, administrator, moderator, member, member2, guest].map(welcomed));
  return {
    id: realm_id,
    host,
    owner,
    administrator,
    moderator,
    member,
    member2,
    guest,
    spectator: new Client(at),
    person: async (options) => welcomed(await create(options)),
    setJwtKey: async (algorithm, key) => {
      await connection.call(jwtOperations.setJwtKey, { algorithm, key }, { meta: realmMeta, timeoutMs });
    },
    revokeKeys: async (email) => {
      await connection.call(userOperations.revokeApiKeys, { email }, { meta: realmMeta, timeoutMs });
    },
  };
}

/**
 * Waits for the message of the Welcome Bot, which is sent some time after a user was created. Otherwise it could arrive
 * between the messages of a test.
 */
async function welcomed(person: Client): Promise<Client> {
  const newest = { anchor: 'newest', num_before: 1, num_after: 0, narrow: [['is', 'dm']] };
  const until = Date.now() + 120_000;
  while ((await person.ok('GET', '/messages', newest)).messages.length === 0) {
    if (Date.now() > until) throw new Error(`No message of the Welcome Bot to user ${person.user_id}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return person;
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
