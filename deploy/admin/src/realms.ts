import { randomBytes } from 'node:crypto';
import { realmUrlSchema, roles, userOperations } from '@natter/contracts';
import pg from 'pg';
import { type Command, readOptions, UsageError } from './command.ts';
import { adminUrl } from './migrate.ts';
import { metaOf, realmOf, withBus } from './operator-bus.ts';

export const createRealm: Command = {
  name: 'realm create',
  usage: '--host HOST --name NAME --owner-email EMAIL [--owner-name NAME] [--url ORIGIN] [--default]',
  summary: 'Create a realm with its first owner, whose key and password are printed once',
  run: async (args) => {
    const options = readOptions(args, ['host', 'name', 'owner-email'], ['owner-name', 'url'], ['default']);
    if (!/^[a-z0-9.-]+(:\d+)?$/.test(options.host)) throw new UsageError(`${options.host} is not a host name`);
    if (options.url !== undefined) requireOrigin(options.url);
    return withBus(async (bus) => {
      const realm = await bus.call(
        userOperations.createRealm,
        {
          host: options.host,
          realm_name: options.name,
          is_default: options.flags.has('default'),
          realm_url: options.url,
        },
        { meta: metaOf(0) },
      );
      if (!realm.is_new) throw new Error(`the realm of ${options.host} exists already (id ${realm.realm_id})`);
      const password = randomBytes(15).toString('base64url');
      const owner = await bus.call(
        userOperations.addPerson,
        {
          email: options['owner-email'],
          full_name: options['owner-name'] ?? 'Owner',
          password,
          role: roles.owner,
          can_create_users: true,
          can_change_user_emails: true,
        },
        { meta: metaOf(realm.realm_id) },
      );
      print({ realm_id: realm.realm_id, host: options.host, email: options['owner-email'], ...owner, password });
      return 0;
    });
  },
};

export const setRealmUrl: Command = {
  name: 'realm url',
  usage: '--host HOST --url ORIGIN',
  summary: 'Set the origin of links to a realm, such as https://chat.example.com',
  run: async (args) => {
    const options = readOptions(args, ['host', 'url'], []);
    requireOrigin(options.url);
    return withBus(async (bus) => {
      const meta = await realmOf(bus, options.host);
      await bus.call(userOperations.setRealmUrl, { realm_url: options.url }, { meta });
      console.log(`links to ${options.host} begin with ${options.url}`);
      return 0;
    });
  },
};

function requireOrigin(url: string): void {
  if (!realmUrlSchema.safeParse(url).success)
    throw new UsageError(`${url} is not an origin such as https://chat.example.com`);
}

export const listRealms: Command = {
  name: 'realm list',
  usage: '',
  summary: 'List the realms with their people, queues and the size of their log',
  run: async (args) => {
    readOptions(args, [], []);
    const client = new pg.Client({ connectionString: adminUrl() });
    await client.connect();
    try {
      const { rows } = await client.query(`
        SELECT r.id, r.host, r.url, r.is_default AS "default", r.name,
          (SELECT count(*)::int FROM users.account a WHERE a.realm_id = r.id AND a.is_active AND NOT a.is_bot) AS people,
          (SELECT count(*)::int FROM event_queue.queue q WHERE q.realm_id = r.id AND q.expires_at > now()) AS queues,
          c.number::int AS events, c.epoch
        FROM users.realm r LEFT JOIN log.clock c ON c.realm_id = r.id ORDER BY r.id`);
      console.table(rows);
      return 0;
    } finally {
      await client.end();
    }
  },
};

export function print(values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values)) console.log(`${name}: ${value}`);
}
