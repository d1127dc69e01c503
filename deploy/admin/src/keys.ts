import { roles, userOperations } from '@natter/contracts';
import { type Command, readOptions, UsageError } from './command.ts';
import { metaOf, realmOf, withBus } from './operator-bus.ts';
import { print } from './realms.ts';

export const createKey: Command = {
  name: 'key create',
  usage: '--host HOST --email EMAIL [--create-role owner|administrator|moderator|member|guest] [--full-name NAME]',
  summary: 'Print a new API key of a user; with --create-role the user is made first',
  run: async (args) => {
    const options = readOptions(args, ['host', 'email'], ['create-role', 'full-name']);
    const roleName = options['create-role'];
    const role = Object.entries(roles).find(([name]) => name === roleName)?.[1];
    if (roleName !== undefined && role === undefined) throw new UsageError(`${roleName} is not a role`);
    return withBus(async (bus) => {
      const meta = await realmOf(bus, options.host);
      if (role === undefined) {
        const { api_key } = await bus.call(userOperations.issueApiKey, { email: options.email }, { meta });
        print({ email: options.email, api_key });
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
      print({ email: options.email, ...made });
      return 0;
    });
  },
};

export const revokeKeys: Command = {
  name: 'key revoke',
  usage: '--host HOST --email EMAIL',
  summary: 'End all API keys of a user, at once',
  run: async (args) => {
    const options = readOptions(args, ['host', 'email'], []);
    return withBus(async (bus) => {
      const meta = await realmOf(bus, options.host);
      const { revoked } = await bus.call(userOperations.revokeApiKeys, { email: options.email }, { meta });
      console.log(`${revoked} keys of ${options.email} ended`);
      return 0;
    });
  },
};
