import { serviceUrl } from '@natter/database';
import {
  derivedPassword,
  type NatsUser,
  natsAuthorization,
  natsUsers,
  redisUserName,
  redisUsers,
} from '@natter/service-kit';
import { type Command, readOptions, requireEnv, UsageError } from './command.ts';
import { fullNameOf, kubernetesSecrets } from './kubernetes-secrets.ts';
import { postgresPassword } from './migrate.ts';

export const credentials: Command = {
  name: 'credentials',
  usage:
    '--format nats|redis|env|kubernetes [--redis URL --nats URL [--postgres URL]] [--service NAME] [--release NAME | --full-name NAME]',
  summary: 'Print what NATS, Redis and each service need, all derived from NATTER_SECRET',
  run: async (args, output) => {
    const print = (text: string): void => output.done(text, { text });
    const options = readOptions(args, ['format'], ['postgres', 'redis', 'nats', 'service', 'release', 'full-name']);
    const { format } = options;
    if (format === 'nats') print(natsAuthorization(natsPassword));
    else if (format === 'redis') print(redisAcl());
    else if (format === 'env' || format === 'kubernetes') {
      const { redis, nats } = options;
      // The URL may come from the environment: other users of the machine could read its password on the command line.
      const postgres = options.postgres ?? process.env.NATTER_POSTGRES_ADMIN_URL;
      if (!postgres || !redis || !nats)
        throw new UsageError('--redis, --nats, and NATTER_POSTGRES_ADMIN_URL or --postgres are needed');
      const environments = environmentsOf({ postgres, redis, nats });
      if (format === 'kubernetes')
        print(kubernetesSecrets(options['full-name'] ?? fullNameOf(options.release ?? 'natter'), environments));
      else {
        const environment = environments[options.service ?? ''];
        if (!environment) throw new UsageError(`--service must be one of ${Object.keys(environments).join(', ')}`);
        const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
        output.done(lines.join('\n'), environment);
      }
    } else throw new UsageError(`${format} is not a format`);
    return 0;
  },
};

const secret = (): string => requireEnv('NATTER_SECRET', 'a long random text that all passwords are derived from');
export const natsPassword = (user: NatsUser): string => derivedPassword(secret(), `nats ${user}`);
const redisPassword = (user: NatsUser): string => derivedPassword(secret(), `redis ${user}`);

const schemaOf = {
  users: 'users',
  channels: 'channels',
  messaging: 'messaging',
  scheduler: 'messaging',
  presence: 'presence',
  'event-queue': 'event_queue',
} as const;

/** An ACL file with a user for each service. The default user is disabled. */
export const redisAcl = (): string => `user default off\n${redisUsers(redisPassword)}`;

/** The environment of each service, and of the operator, who runs migrations. */
export function environmentsOf(urls: {
  postgres: string;
  redis: string;
  nats: string;
}): Record<string, Record<string, string>> {
  return Object.fromEntries(
    natsUsers.map((user) => {
      const schema = user in schemaOf ? schemaOf[user as keyof typeof schemaOf] : undefined;
      const postgres = schema
        ? { NATTER_POSTGRES_URL: serviceUrl(urls.postgres, schema, postgresPassword(schema)) }
        : {};
      const passwords = Object.fromEntries(
        [...new Set(Object.values(schemaOf))].map((name) => [
          `NATTER_POSTGRES_PASSWORD_${name.toUpperCase()}`,
          postgresPassword(name),
        ]),
      );
      return [
        user,
        {
          NATTER_NATS_URL: withUser(urls.nats, user, natsPassword(user)),
          NATTER_REDIS_URL: withUser(urls.redis, redisUserName(user), redisPassword(user)),
          ...postgres,
          ...(user === 'users' ? { NATTER_BOT_KEY_SECRET: derivedPassword(secret(), 'keys of bots') } : {}),
          ...(user === 'operator' ? { NATTER_POSTGRES_ADMIN_URL: urls.postgres, ...passwords } : {}),
        },
      ];
    }),
  );
}

function withUser(url: string, user: string, password: string): string {
  const parsed = new URL(url);
  parsed.username = user;
  parsed.password = password;
  return parsed.href;
}
