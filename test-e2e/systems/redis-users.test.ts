import { bringServers, type Servers } from '@natter/local';
import { derivedPassword, type NatsUser, natsUsers, redisUsers } from '@natter/service-kit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDirectory } from '../open-system.ts';

const passwordOf = (user: NatsUser): string => derivedPassword('secret', user);
let servers: Servers;
const open: Redis[] = [];
beforeAll(async () => {
  const dataDir = await dataDirectory();
  servers = await bringServers({ dataDir, redisUsers: redisUsers(passwordOf) });
});
afterAll(async () => {
  for (const connection of open) connection.disconnect();
  await servers?.stop();
});

async function as(user: NatsUser, password = passwordOf(user)): Promise<Redis> {
  const url = new URL(servers.redisUrl);
  url.username = `natter-${user}`;
  url.password = password;
  const redis = new Redis(url.href, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined);
  open.push(redis);
  await redis.connect();
  return redis;
}

/** The key of each kind of data of a realm, as in the architecture's inventory. */
const keys = {
  log: 'natter:{1}:log',
  logMeta: 'natter:{1}:log-meta',
  queue: 'natter:{1}:queue:2f0a',
  poll: 'natter:{1}:poll:2f0a',
  rate: 'natter:{1}:rate:12',
  presence: 'natter:{1}:presence',
  presenceCounter: 'natter:{1}:presence-counter',
  presenceRun: 'natter:{1}:presence-run',
  other: 'somebody:elses',
};
const log = ['log', 'logMeta'];
/** Keys that a service may let expire, for which it also has all other commands it needs. */
const owned: Record<NatsUser, string[]> = {
  gateway: ['queue', 'poll', 'rate'],
  users: [...log, 'rate'],
  channels: log,
  messaging: log,
  scheduler: log,
  presence: [...log, 'presence', 'presenceCounter', 'presenceRun'],
  'event-queue': [...log, 'queue'],
  operator: [],
};

test('a connection requires the password of its service and a name', async () => {
  await expect(as('users', 'wrong')).rejects.toThrow();
  await expect(as('users', passwordOf('channels'))).rejects.toThrow();
});

test.each(natsUsers.map((user) => [user]))('%s can access only its own keys', async (user) => {
  const redis = await as(user);
  for (const [name, key] of Object.entries(keys)) {
    const changed = redis.expire(key, 60);
    if (owned[user].includes(name)) expect(await changed, name).toBe(0);
    else await expect(changed, name).rejects.toThrow(/NOPERM/);
    // A script has the permissions of its caller.
    if (user !== 'operator') {
      const byScript = redis.eval("return redis.call('EXPIRE', KEYS[1], 60)", 1, key);
      if (owned[user].includes(name)) expect(await byScript, name).toBe(0);
      else await expect(byScript, name).rejects.toThrow(/NOPERM|ACL/);
    }
  }
});

test('the gateway can read but not write the log and the records of queues', async () => {
  const [gateway, owner] = [await as('gateway'), await as('event-queue')];
  await owner.set(keys.queue, 'record');
  expect(await gateway.get(keys.queue)).toBe('record');
  expect(await gateway.xrange(keys.log, '-', '+')).toEqual([]);
  await expect(gateway.set(keys.queue, 'another')).rejects.toThrow(/NOPERM/);
  await expect(gateway.call('XADD', keys.log, '*', 'a', 'b')).rejects.toThrow(/NOPERM/);
  await expect(gateway.hset(keys.logMeta, 'number', 1)).rejects.toThrow(/NOPERM/);
});

test('a service cannot access data of other services, administer the server or run global commands', async () => {
  const commands = [['FLUSHALL'], ['CONFIG', 'GET', '*'], ['KEYS', '*'], ['ACL', 'LIST'], ['SHUTDOWN'], ['MONITOR']];
  for (const user of natsUsers) {
    const redis = await as(user);
    for (const [command = '', ...rest] of commands)
      await expect(redis.call(command, ...rest), `${user} ${command}`).rejects.toThrow(/NOPERM/);
    if (user !== 'operator') await expect(redis.call('SCAN', '0'), user).rejects.toThrow(/NOPERM/);
  }
  await expect((await as('channels')).hgetall(keys.presence)).rejects.toThrow(/NOPERM/);
  await expect((await as('presence')).get(keys.queue)).rejects.toThrow(/NOPERM/);
});

test('only gateways and event-queue can read entries of the log', async () => {
  const readers: NatsUser[] = ['gateway', 'event-queue'];
  const reads = [
    ['XRANGE', keys.log, '-', '+'],
    ['XREVRANGE', keys.log, '+', '-'],
    ['XREAD', 'STREAMS', keys.log, '0'],
    ['XINFO', 'STREAM', keys.log, 'FULL'],
    ['XAUTOCLAIM', keys.log, 'g', 'c', '0', '0'],
    ['XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', keys.log, '0'],
    ['XCLAIM', keys.log, 'g', 'c', '0', '1-0'],
    ['DUMP', keys.log],
    ['COPY', keys.log, keys.presence],
    ['RENAME', keys.log, keys.presence],
    ['SORT', keys.log],
  ];
  for (const user of natsUsers.filter((name) => !readers.includes(name))) {
    const redis = await as(user);
    for (const [command = '', ...rest] of reads)
      await expect(redis.call(command, ...rest), `${user} ${command}`).rejects.toThrow(/NOPERM/);
  }
});
