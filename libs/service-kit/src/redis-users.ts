import { type NatsUser, natsUsers } from './nats-users.ts';

/** Redis has the same users as NATS. */
export const redisUserName = (user: NatsUser): string => `natter-${user}`;

interface RedisRights {
  /** ACL patterns: `~` for reading and writing, `%R~` for reading. */
  keys: readonly string[];
  commands: readonly string[];
}

const log = 'natter:{*}:log';
const logMeta = 'natter:{*}:log-meta';
const queues = 'natter:{*}:queue:*';
const polls = 'natter:{*}:poll:*';
const rates = 'natter:{*}:rate:*';
const presence = ['', '-updates', '-counter', '-run'].map((part) => `natter:{*}:presence${part}`);

/** Commands that every connection needs: to set its name, to identify the Redis process, to run scripts. */
const connecting = ['ping', 'info', 'select', 'client|setname'];
const scripting = ['eval', 'evalsha', 'script|exists', 'script|load'];
const counting = ['incr', 'expire', 'ttl', 'del'];
/** Owners append their entries to the log without reading it: no command here returns entries of a stream. */
const appending: RedisRights = {
  keys: [`~${log}`, `~${logMeta}`],
  commands: [...scripting, 'exists', 'hget', 'hset', 'hmget', 'xadd', 'expire'],
};

const rights: Record<NatsUser, RedisRights> = {
  // Queue records are keys of a script, which requires write access; no permitted command writes one.
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
    // `hsetnx` serves processes of the previous release during an upgrade.
    commands: [...appending.commands, ...['get', 'set', 'setnx', 'incr', 'hgetall', 'hsetnx', 'zadd', 'zrangebyscore']],
  },
  'event-queue': {
    keys: [...appending.keys, `~${queues}`],
    commands: [...appending.commands, 'set', 'del', 'xrevrange'],
  },
  // Inspects the log, and deletes everything after a restore.
  operator: { keys: ['~natter:*'], commands: ['hmget', 'scan', 'unlink'] },
};

/** The ACL rules of a user: its own keys with its own commands, and nothing else. */
export const redisRules = (user: NatsUser): string => {
  const { keys, commands } = rights[user];
  const allowed = [...new Set([...connecting, ...commands])].map((command) => `+${command}`);
  return ['resetkeys', 'resetchannels', '-@all', ...keys, ...allowed].join(' ');
};

/** The `user` lines of a configuration file or of an ACL file. */
export const redisUsers = (passwordOf: (user: NatsUser) => string): string =>
  natsUsers.map((user) => `user ${redisUserName(user)} on >${passwordOf(user)} ${redisRules(user)}`).join('\n');
