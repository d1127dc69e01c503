import { randomBytes } from 'node:crypto';
import {
  channelOperations,
  type RequestMeta,
  type ResultOf,
  realmUrlSchema,
  roles,
  userOperations,
} from '@natter/contracts';
import type { Bus } from '@natter/service-kit';
import { type Command, readOptions, UsageError } from './command.ts';
import { metaOf, realmOf, withBus } from './operator-bus.ts';
import { withPostgres } from './postgres.ts';

const usualChannels = 'general,sandbox';

export const createRealm: Command = {
  name: 'realm create',
  usage:
    '--host HOST --name NAME --owner-email EMAIL [--owner-name NAME] [--url ORIGIN] [--channels NAMES] [--default]',
  summary: `Create a realm, its first owner, whose key and password are printed once, and default channels (${usualChannels})`,
  run: async (args, output) => {
    const optional = ['owner-name', 'url', 'channels'] as const;
    const options = readOptions(args, ['host', 'name', 'owner-email'], optional, ['default']);
    if (!/^[a-z0-9.-]+(:\d+)?$/.test(options.host)) throw new UsageError(`${options.host} is not a host name`);
    if (options.url !== undefined) requireOrigin(options.url);
    const channels = namesOf(options.channels ?? usualChannels);
    const owner = {
      email: options['owner-email'],
      full_name: options['owner-name'] ?? 'Owner',
      password: randomBytes(15).toString('base64url'),
    };
    return withBus(async (bus) => {
      const realm = await bus.call(
        userOperations.createRealm,
        {
          host: options.host,
          realm_name: options.name,
          is_default: options.flags.has('default'),
          realm_url: options.url,
          owner: { ...owner, first_channels: channels },
        },
        { meta: metaOf(0) },
      );
      if (!realm.is_new) throw new Error(existsAlready(options.host, owner.email, realm));
      const meta = metaOf(realm.realm_id);
      // A users service of the previous release creates the realm alone.
      const made = realm.owner ?? (await bus.call(userOperations.addPerson, { ...owner, ...ownerRights }, { meta }));
      const { email, password } = owner;
      output.record({ realm_id: realm.realm_id, host: options.host, email, ...made, password, channels });
      const problem = await awaitChannels(bus, meta, made.user_id, channels);
      if (problem === undefined) return 0;
      console.error(`natter realm create: the realm and its owner exist, but not its default channels yet: ${problem}`);
      console.error(`They appear when the service channels runs: see natter channel list --host ${options.host}`);
      return 1;
    });
  },
};

/** Says what exists, and the commands that replace the output of an earlier run, which may have been lost. */
function existsAlready(
  host: string,
  email: string,
  { realm_id, existing }: ResultOf<typeof userOperations.createRealm>,
) {
  const realm = `the realm of ${host} exists already (id ${realm_id})`;
  const people = `natter user list --host ${host}`;
  // A users service of the previous release does not say who its owner is.
  if (existing === undefined) return `${realm}: nothing was changed\nfor its people see ${people}`;
  const lines = [`${realm} with the name ${existing.realm_name}: nothing was changed`];
  const ofOwner = `--host ${host} --email ${email}`;
  if (existing.has_owner)
    lines.push(
      `${email} is its owner: natter key create ${ofOwner} prints another key, and`,
      `natter user reset-link ${ofOwner} a link to set a password`,
    );
  else lines.push(`${email} is not its owner: see ${people}`);
  return lines.join('\n');
}

const ownerRights = { role: roles.owner, can_create_users: true, can_change_user_emails: true };

const namesOf = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/**
 * Waits until channels has created the default channels, which the creation of the realm committed. A channels service of
 * the previous release does not know of them, and creates them here. Returns the reason if they do not exist.
 */
async function awaitChannels(
  bus: Bus,
  meta: RequestMeta,
  user_id: number,
  names: string[],
): Promise<string | undefined> {
  if (names.length === 0) return undefined;
  try {
    await bus.call(channelOperations.createDefaultChannels, { user_id, names }, { meta });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export const setRealmUrl: Command = {
  name: 'realm url',
  usage: '--host HOST --url ORIGIN',
  summary: 'Set the origin of links to a realm, such as https://chat.example.com',
  run: async (args, output) => {
    const options = readOptions(args, ['host', 'url'], []);
    requireOrigin(options.url);
    return withBus(async (bus) => {
      const meta = await realmOf(bus, options.host);
      await bus.call(userOperations.setRealmUrl, { realm_url: options.url }, { meta });
      output.done(`links to ${options.host} begin with ${options.url}`, { host: options.host, url: options.url });
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
  run: async (args, output) => {
    readOptions(args, [], []);
    const { rows } = await withPostgres((client) =>
      client.query(`
        SELECT r.id, r.host, r.url, r.is_default AS "default", r.name,
          CASE WHEN r.deletion_started_at IS NOT NULL THEN 'deleting ' || r.former_host
            WHEN r.is_deactivated THEN 'deactivated' ELSE 'active' END AS state,
          (SELECT count(*)::int FROM users.account a WHERE a.realm_id = r.id AND a.is_active AND NOT a.is_bot) AS people,
          (SELECT count(*)::int FROM event_queue.queue q WHERE q.realm_id = r.id AND q.expires_at > now()) AS queues,
          c.number::int AS events, c.epoch
        FROM users.realm r LEFT JOIN log.clock c ON c.realm_id = r.id ORDER BY r.id`),
    );
    output.table(rows, 'there is no realm');
    return 0;
  },
};

const setActive = (name: 'deactivate' | 'reactivate', summary: string): Command => ({
  name: `realm ${name}`,
  usage: '--host HOST',
  summary,
  run: async (args, output) => {
    const { host } = readOptions(args, ['host'], []);
    return withBus(async (bus) => {
      const meta = await realmOf(bus, host);
      const is_active = name === 'reactivate';
      await bus.call(userOperations.setRealmActive, { is_active }, { meta });
      output.done(`the realm of ${host} is ${name}d`, { realm_id: meta.realmId, host, is_active });
      return 0;
    });
  },
});

export const deactivateRealm = setActive(
  'deactivate',
  'End all sessions of a realm and let nobody in any more; its data is kept',
);
export const reactivateRealm = setActive('reactivate', 'Let the users of a deactivated realm in again');
