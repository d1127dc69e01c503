import { randomBytes } from 'node:crypto';
import { type RequestMeta, roles, userOperations } from '@natter/contracts';
import { type Bus, connectBus, createLogger, createMetrics } from '@natter/service-kit';
import { inject } from 'vitest';
import { Client } from './client.ts';

interface Person {
  role?: keyof typeof roles;
  full_name?: string;
  email?: string;
  /** Whether they can log in with one; all have an API key. Hashing one takes as long as in production. */
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
  /** Nobody: without authentication. */
  spectator: Client;
  /** One more person. */
  person(options?: Person): Promise<Client>;
}

const bus = lazily(() =>
  connectBus({
    url: inject('natterNatsUrl'),
    name: 'operator',
    log: createLogger('testkit', 'fatal'),
    metrics: createMetrics('testkit'),
  }),
);

/**
 * A fresh realm in the shared system with a person of each role, who have passwords only where the file asks for them. Owner and
 * administrator may create users, the owner also change addresses.
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
    { host, realm_name: name, is_default: false, realm_url: `http://${host}` },
    { meta },
  );
  let count = 0;
  const person: Realm['person'] = async ({ role = 'member', full_name, email, hasPassword = havePasswords } = {}) => {
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
      { meta: { ...meta, realmId: realm_id } },
    );
    return new Client(at, { ...account, ...made });
  };
  const owner = await person({ role: 'owner' });
  const administrator = await person({ role: 'administrator' });
  const moderator = await person({ role: 'moderator' });
  const member = await person();
  const member2 = await person();
  const guest = await person({ role: 'guest' });
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
    person,
  };
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
