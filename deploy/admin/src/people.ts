import { randomBytes } from 'node:crypto';
import { roles, userOperations } from '@natter/contracts';
import { type Command, readOptions, UsageError } from './command.ts';
import { realmOf, withBus } from './operator-bus.ts';
import { storedRealm, withPostgres } from './postgres.ts';

const roleNames = Object.keys(roles).join('|');

export function roleOf(name: string): number {
  const role = Object.entries(roles).find(([known]) => known === name)?.[1];
  if (role === undefined) throw new UsageError(`${name} is not a role: ${roleNames}`);
  return role;
}

export const listUsers: Command = {
  name: 'user list',
  usage: '--host HOST',
  summary: 'List the users and bots of a realm',
  run: async (args, output) => {
    const { host } = readOptions(args, ['host'], []);
    const names = Object.entries(roles).map(([name, role]) => `WHEN ${role} THEN '${name}'`);
    const rows = await withPostgres(async (client) => {
      const realm = await storedRealm(client, host);
      const found = await client.query(
        `SELECT a.id AS user_id, a.email, a.full_name, CASE a.role ${names.join(' ')} END AS role, a.is_active, a.is_bot,
          a.joined_at, (SELECT count(*)::int FROM users.api_key k WHERE k.user_id = a.id AND k.expires_at IS NULL) AS keys
        FROM users.account a WHERE a.realm_id = $1 AND NOT a.is_system_bot ORDER BY a.id`,
        [realm.id],
      );
      return found.rows;
    });
    output.table(rows, 'the realm has no users');
    return 0;
  },
};

export const createUser: Command = {
  name: 'user create',
  usage: `--host HOST --email EMAIL --name NAME [--role ${roleNames}]`,
  summary: 'Create a user (a member, or of another role), whose key and password are printed once',
  run: async (args, output) => {
    const options = readOptions(args, ['host', 'email', 'name'], ['role']);
    const role = roleOf(options.role ?? 'member');
    return withBus(async (bus) => {
      const meta = await realmOf(bus, options.host);
      const password = randomBytes(15).toString('base64url');
      const rights = { can_create_users: false, can_change_user_emails: false };
      const person = { email: options.email, full_name: options.name, password, role, ...rights };
      const made = await bus.call(userOperations.addPerson, person, { meta });
      output.record({ email: options.email, ...made, password });
      return 0;
    });
  },
};

export const setRole: Command = {
  name: 'user role',
  usage: `--host HOST --email EMAIL --role ${roleNames}`,
  summary: 'Change the role of a user',
  run: async (args, output) => {
    const { host, email, role } = readOptions(args, ['host', 'email', 'role'], []);
    const value = roleOf(role);
    return withBus(async (bus) => {
      const meta = await realmOf(bus, host);
      const { user_id } = await bus.call(userOperations.setUserRole, { email, role: value }, { meta });
      output.done(`${email} has the role ${role}`, { user_id, email, role });
      return 0;
    });
  },
};

export const createResetLink: Command = {
  name: 'user reset-link',
  usage: '--host HOST --email EMAIL',
  summary: 'Print a link with which a user sets a password; it works once, within a day',
  run: async (args, output) => {
    const { host, email } = readOptions(args, ['host', 'email'], []);
    return withBus(async (bus) => {
      const meta = await realmOf(bus, host);
      output.record({ email, ...(await bus.call(userOperations.createResetLink, { email }, { meta })) });
      return 0;
    });
  },
};

export const grantRights: Command = {
  name: 'user rights',
  usage: '--host HOST --email EMAIL [--create-users yes|no] [--change-emails yes|no] [--forge-sender yes|no]',
  summary:
    'Let a user create accounts or change the addresses of others, or a bot send in the name of others, or not any more',
  run: async (args, output) => {
    const options = readOptions(args, ['host', 'email'], ['create-users', 'change-emails', 'forge-sender']);
    const { host, email } = options;
    const can_create_users = yesOrNo('create-users', options['create-users']);
    const can_change_user_emails = yesOrNo('change-emails', options['change-emails']);
    const can_forge_sender = yesOrNo('forge-sender', options['forge-sender']);
    const rights = { can_create_users, can_change_user_emails, can_forge_sender };
    if (Object.values(rights).every((right) => right === undefined))
      throw new UsageError('--create-users, --change-emails or --forge-sender is missing');
    return withBus(async (bus) => {
      const meta = await realmOf(bus, host);
      const params = { email, ...rights };
      const { user_id } = await bus.call(userOperations.grantRights, params, { meta });
      output.done(`The rights of ${email} are changed`, { user_id, ...params });
      return 0;
    });
  },
};

function yesOrNo(name: string, value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  if (value !== 'yes' && value !== 'no') throw new UsageError(`--${name} must be yes or no`);
  return value === 'yes';
}
