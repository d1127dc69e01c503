import { userOperations } from '@natter/contracts';
import { type Command, readOptions } from './command.ts';
import { metaOf, realmOf, withBus } from './operator-bus.ts';
import { roleOf } from './people.ts';
import { storedRealm, withPostgres } from './postgres.ts';

export const listKeys: Command = {
  name: 'key list',
  usage: '--host HOST [--email EMAIL]',
  summary: 'List the API keys of a realm or of a user: when they were made and by which client, not the keys',
  run: async (args, output) => {
    const { host, email } = readOptions(args, ['host'], ['email']);
    const rows = await withPostgres(async (client) => {
      const realm = await storedRealm(client, host);
      const { rows: users } = await client.query<{ id: number }>(
        'SELECT id FROM users.account WHERE realm_id = $1 AND ($2::text IS NULL OR lower(email) = lower($2))',
        [realm.id, email ?? null],
      );
      if (email !== undefined && users.length === 0) throw new Error(`${host} has no user ${email}`);
      const found = await client.query(
        `SELECT k.id::int AS key_id, a.id AS user_id, a.email, k.client, k.created_at, k.expires_at IS NOT NULL AS is_session
        FROM users.api_key k JOIN users.account a ON a.id = k.user_id WHERE a.id = ANY($1::int[]) ORDER BY a.id, k.id`,
        [users.map(({ id }) => id)],
      );
      return found.rows;
    });
    output.table(rows, 'there is no key');
    return 0;
  },
};

export const createKey: Command = {
  name: 'key create',
  usage: '--host HOST --email EMAIL [--create-role owner|administrator|moderator|member|guest] [--full-name NAME]',
  summary: 'Print a new API key of a user; with --create-role the user is made first',
  run: async (args, output) => {
    const options = readOptions(args, ['host', 'email'], ['create-role', 'full-name']);
    const role = options['create-role'] === undefined ? undefined : roleOf(options['create-role']);
    return withBus(async (bus) => {
      const meta = await realmOf(bus, options.host);
      if (role === undefined) {
        const { api_key } = await bus.call(userOperations.issueApiKey, { email: options.email }, { meta });
        output.record({ email: options.email, api_key });
        return 0;
      }
      const person = {
        email: options.email,
        full_name: options['full-name'] ?? options.email.split('@')[0] ?? options.email,
        password: undefined,
        role,
        can_create_users: false,
        can_change_user_emails: false,
      };
      const made = await bus.call(userOperations.addPerson, person, { meta: metaOf(meta.realmId) });
      output.record({ email: options.email, ...made });
      return 0;
    });
  },
};

export const revokeKeys: Command = {
  name: 'key revoke',
  usage: '--host HOST --email EMAIL',
  summary: 'End all API keys of a user, at once',
  run: async (args, output) => {
    const options = readOptions(args, ['host', 'email'], []);
    return withBus(async (bus) => {
      const meta = await realmOf(bus, options.host);
      const { revoked } = await bus.call(userOperations.revokeApiKeys, { email: options.email }, { meta });
      output.done(`${revoked} keys of ${options.email} ended`, { email: options.email, revoked });
      return 0;
    });
  },
};
