import { type NatsUser, natsUsers } from './nats-users.ts';

/** Who connects to Redis: the same as to NATS. */
export const redisUserName = (user: NatsUser): string => `natter-${user}`;

interface RedisRights {
  /** Patterns as in an ACL: `~` for all, `%R~` for reading. */
  keys: readonly string[];
  commands: readonly string[];
}

const log = 'natter:{*}:log';
const logMeta = 'natter:{*}:log-meta';
const queues = 'natter:{*}:queue:*';
const polls = 'natter:{*}:poll:*';
const rates = 'natter:{*}:rate:*';
const presence = ['natter:{*}:presence', 'natter:{*}:presence-updates', 'natter:{*}:presence-counter'];

/** What every connection needs: to be named, to be asked which Redis this is, to run the scripts. */
const connecting = ['ping', 'info', 'select', 'client|setname'];
const scripting = ['eval', 'evalsha', 'script|exists', 'script|load'];
const counting = ['incr', 'expire', 'ttl', 'del'];
/** Whoever commits brings its entries into the log, which it can't read: no command here gives entries of a stream. */
const appending: RedisRights = {
  keys: [`~${log}`, `~${logMeta}`],
  commands: [...scripting, 'exists', 'hget', 'hset', 'hmget', 'xadd', 'expire'],
};

const rights: Record<NatsUser, RedisRights> = {
  // Records of queues are named to a script, which counts as writing; it has no command that could write one.
  gateway: {
    keys: [`%R~${log}`, `~${queues}`, `~${polls}`, `~${rates}`],
    // `hget` and `hincrby` serve gateways of the previous release during an upgrade.
    commands: [...scripting, ...counting, 'xrange', 'get', 'hmget', 'hset', 'time', 'hget', 'hincrby'],
  },
  users: { keys: [...appending.keys, `~${rates}`], commands: [...appending.commands, ...counting] },
  channels: appending,
  messaging: appending,
  scheduler: appending,
  presence: {
    keys: [...appending.keys, ...presence.map((key) => `~${key}`)],
    commands: [...appending.commands, ...['get', 'setnx', 'incr', 'hgetall', 'hsetnx', 'zadd', 'zrangebyscore']],
  },
  'event-queue': {
    keys: [...appending.keys, `~${queues}`],
    commands: [...appending.commands, 'set', 'del', 'xrevrange'],
  },
  // Looks how the log stands, and forgets everything after a restore.
  operator: { keys: ['~natter:*'], commands: ['hmget', 'scan', 'unlink'] },
};

/** What a user may do, as the rules of an ACL: its own keys with its own commands, and nothing else. */
export const redisRules = (user: NatsUser): string => {
  const { keys, commands } = rights[user];
  const allowed = [...new Set([...connecting, ...commands])].map((command) => `+${command}`);
  return ['resetkeys', 'resetchannels', '-@all', ...keys, ...allowed].join(' ');
};

/** The `user` lines of a configuration file or of an ACL file. */
export const redisUsers = (passwordOf: (user: NatsUser) => string): string =>
  natsUsers.map((user) => `user ${redisUserName(user)} on >${passwordOf(user)} ${redisRules(user)}`).join('\n');
