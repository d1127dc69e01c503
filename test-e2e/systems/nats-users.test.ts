import { connect, type NatsConnection } from '@nats-io/transport-node';
import { bringServers, type Servers } from '@natter/local';
import { derivedPassword, type NatsUser, natsAuthorization, natsUsers } from '@natter/service-kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDirectory } from '../open-system.ts';

const passwordOf = (user: NatsUser): string => derivedPassword('secret', user);
let servers: Servers;
const open: NatsConnection[] = [];
beforeAll(async () => {
  const dataDir = await dataDirectory();
  servers = await bringServers({ dataDir, natsConfig: natsAuthorization(passwordOf) });
});
afterAll(async () => {
  await Promise.all(open.map((connection) => connection.close()));
  await servers?.stop();
});

async function as(user: NatsUser, pass = passwordOf(user)): Promise<NatsConnection> {
  const connection = await connect({ servers: servers.natsUrl, user, pass, inboxPrefix: `_INBOX.${user}` });
  open.push(connection);
  return connection;
}

test('a connection requires the password of its service', async () => {
  await expect(as('users', 'wrong')).rejects.toThrow(/authorization violation/i);
});

/** An example of every kind of subject. */
const subjects = {
  // Requests, by caller.
  'users whoami, as gateway': 'natter.users.get-own-user.gateway',
  'users whoami, as presence': 'natter.users.get-own-user.presence',
  'messaging send, as gateway': 'natter.messaging.send-message.gateway',
  'messaging send, as messaging': 'natter.messaging.send-message.messaging',
  'messaging send, as presence': 'natter.messaging.send-message.presence',
  'who has this key, as gateway': 'natter.users.authenticate.gateway',
  'who has this key, as presence': 'natter.users.authenticate.presence',
  'a key for anybody, as operator': 'natter.users.issue-api-key.operator',
  'a key for anybody, as gateway': 'natter.users.issue-api-key.gateway',
  'a key for anybody, as messaging': 'natter.users.issue-api-key.messaging',
  'an actor, as messaging': 'natter.users.describe-actor.messaging',
  'an actor, as channels': 'natter.users.describe-actor.channels',
  'the log, as gateway': 'natter.event-queue.read-log.gateway',
  'the log, as presence': 'natter.event-queue.read-log.presence',
  'a snapshot, as event-queue': 'natter.messaging.snapshot-messaging.event-queue',
  'a snapshot, as users': 'natter.messaging.snapshot-messaging.users',
  // Requests to one process.
  'users whoami at a process, as gateway': 'natter-at.users.get-own-user.x.gateway',
  'an actor at a process, as messaging': 'natter-at.users.describe-actor.x.messaging',
  'an actor at a process, as channels': 'natter-at.users.describe-actor.x.channels',
  'a snapshot at a process, as event-queue': 'natter-at.messaging.snapshot-messaging.x.event-queue',
  'a snapshot at a process, as users': 'natter-at.messaging.snapshot-messaging.x.users',
  // Cancelled requests.
  'cancel at users, as gateway': 'natter-cancel.users.gateway',
  'cancel at users, as messaging': 'natter-cancel.users.messaging',
  'cancel at users, as scheduler': 'natter-cancel.users.scheduler',
  'cancel at channels, as users': 'natter-cancel.channels.users',
  'cancel at messaging, as event-queue': 'natter-cancel.messaging.event-queue',
  'cancel at presence, as gateway': 'natter-cancel.presence.gateway',
  'cancel at event-queue, as gateway': 'natter-cancel.event-queue.gateway',
  'cancel at event-queue, as presence': 'natter-cancel.event-queue.presence',
  'cancel at users, as operator': 'natter-cancel.users.operator',
  // Answers and blocks.
  'inbox of gateway': '_INBOX.gateway.x.1',
  'inbox of messaging': '_INBOX.messaging.x.1',
  'blocks of messaging': 'natter-parts.messaging.x',
  'blocks of users': 'natter-parts.users.x',
  'blocks of presence': 'natter-parts.presence.x',
  // Hints.
  log: 'natter.log.1',
  'a queue': 'natter.queue.1',
  'a message was committed': 'natter.committed-message.1',
  'a person was committed': 'natter.committed-realm_user.1',
  conflict: 'natter.log-conflict',
  scheduled: 'natter.scheduled',
  'cost of realms': 'natter.usage',
  statistics: '$SRV.STATS',
  'sign of life of users': '$SRV.PING.natter-users',
};
type Subject = keyof typeof subjects;

/** The subjects that each user may publish and subscribe to; no others. Written by hand. */
const allowed: Record<NatsUser, { publish: Subject[]; hear: Subject[] }> = {
  gateway: {
    publish: [
      'cancel at users, as gateway',
      'cancel at presence, as gateway',
      'cancel at event-queue, as gateway',
      'cost of realms',
      'users whoami, as gateway',
      'users whoami at a process, as gateway',
      'messaging send, as gateway',
      'who has this key, as gateway',
      // Users refuses it: see compromised-service.test.ts.
      'a key for anybody, as gateway',
      'the log, as gateway',
      'blocks of messaging',
      'blocks of users',
      'blocks of presence',
      'a queue',
      'sign of life of users',
    ],
    hear: ['cost of realms', 'inbox of gateway', 'log', 'a queue', 'statistics'],
  },
  users: {
    publish: [
      'cancel at channels, as users',
      'log',
      'conflict',
      'a person was committed',
      'blocks of messaging',
      'blocks of users',
      'blocks of presence',
    ],
    hear: [
      'cancel at users, as gateway',
      'cancel at users, as messaging',
      'cancel at users, as scheduler',
      'cancel at users, as operator',
      'users whoami, as gateway',
      'users whoami, as presence',
      'who has this key, as gateway',
      'who has this key, as presence',
      'a key for anybody, as operator',
      'a key for anybody, as gateway',
      'a key for anybody, as messaging',
      'an actor, as messaging',
      'an actor, as channels',
      'users whoami at a process, as gateway',
      'an actor at a process, as messaging',
      'an actor at a process, as channels',
      'blocks of users',
      'statistics',
      'sign of life of users',
    ],
  },
  channels: {
    publish: [
      'an actor, as channels',
      'an actor at a process, as channels',
      'log',
      'conflict',
      'blocks of messaging',
      'blocks of users',
    ],
    hear: ['cancel at channels, as users', 'a message was committed', 'a person was committed', 'statistics'],
  },
  messaging: {
    publish: [
      'cancel at users, as messaging',
      'an actor, as messaging',
      'an actor at a process, as messaging',
      'log',
      'conflict',
      'a message was committed',
      'scheduled',
      'blocks of users',
    ],
    hear: [
      'cancel at messaging, as event-queue',
      'messaging send, as gateway',
      'messaging send, as messaging',
      'messaging send, as presence',
      'a snapshot, as event-queue',
      'a snapshot, as users',
      'a snapshot at a process, as event-queue',
      'a snapshot at a process, as users',
      'inbox of messaging',
      'blocks of messaging',
      'a person was committed',
      'statistics',
    ],
  },
  scheduler: {
    publish: ['cancel at users, as scheduler', 'log', 'conflict', 'a message was committed', 'blocks of users'],
    hear: ['scheduled', 'statistics'],
  },
  presence: {
    publish: ['log', 'conflict', 'blocks of users'],
    hear: ['cancel at presence, as gateway', 'blocks of presence', 'a person was committed', 'statistics'],
  },
  'event-queue': {
    publish: [
      'cancel at messaging, as event-queue',
      'a snapshot, as event-queue',
      'a snapshot at a process, as event-queue',
      'log',
      'a queue',
      'conflict',
      'blocks of messaging',
      'blocks of users',
      'blocks of presence',
    ],
    hear: [
      'cancel at event-queue, as gateway',
      'cancel at event-queue, as presence',
      'the log, as gateway',
      'the log, as presence',
      'a person was committed',
      'conflict',
      'statistics',
    ],
  },
  operator: {
    publish: [
      'cancel at users, as operator',
      'a key for anybody, as operator',
      'statistics',
      'sign of life of users',
      'blocks of users',
    ],
    hear: [],
  },
};

const isRefused = (error: unknown): boolean => /permissions violation/i.test(String(error));

/** Subjects that this user may publish to: refusals arrive on the connection before the answer to a flush. */
async function published(connection: NatsConnection): Promise<string[]> {
  const refused = new Set<string>();
  void (async () => {
    for await (const status of connection.status())
      if (status.type === 'error' && isRefused(status.error))
        refused.add(/Publish to "([^"]+)"/i.exec(String(status.error))?.[1] ?? '');
  })();
  for (const subject of Object.values(subjects)) connection.publish(subject, '');
  await connection.flush();
  await new Promise(setImmediate);
  return Object.values(subjects).filter((subject) => !refused.has(subject));
}

async function heard(connection: NatsConnection): Promise<string[]> {
  const refused = new Set<string>();
  for (const subject of Object.values(subjects))
    connection.subscribe(subject, { callback: (error) => void (isRefused(error) && refused.add(subject)) });
  await connection.flush();
  await new Promise(setImmediate);
  return Object.values(subjects).filter((subject) => !refused.has(subject));
}

test.each(natsUsers.map((user) => [user]))('%s may publish and subscribe only to the listed subjects', async (user) => {
  const { publish, hear } = allowed[user];
  const sorted = (names: Subject[]): string[] => names.map((name) => subjects[name]).sort();
  expect((await published(await as(user))).sort()).toEqual(sorted(publish));
  expect((await heard(await as(user))).sort()).toEqual(sorted(hear));
});

test('users cannot subscribe to several kinds of traffic with a wildcard', async () => {
  const wildcards = ['>', 'natter.>', 'natter.*', 'natter.*.*', 'natter.*.*.*', 'natter.messaging.>', 'natter-parts.>'];
  const inboxes = ['_INBOX.>', '_INBOX.*.*.*', '$SRV.>'];
  for (const user of natsUsers) {
    const connection = await as(user);
    for (const subject of [...wildcards, ...inboxes]) {
      const refused = new Promise((resolve) =>
        connection.subscribe(subject, { callback: (error) => void (error && resolve(error)) }),
      );
      expect(String(await refused), `${user} ${subject}`).toMatch(/permissions violation/i);
    }
  }
});

test('a request arrives under the name of its sender and cannot use another name', async () => {
  const [users, gateway, channels] = [await as('users'), await as('gateway'), await as('channels')];
  const subscription = users.subscribe('natter.users.get-own-user.*', {
    callback: (_, message) => void message.respond(message.subject.split('.').at(-1)),
  });
  await users.flush();
  const answer = await gateway.request('natter.users.get-own-user.gateway', '', { timeout: 60_000 });
  expect(answer.string()).toBe('gateway');
  await expect(channels.request('natter.users.get-own-user.gateway', '', { timeout: 60_000 })).rejects.toThrow(
    /permissions violation/i,
  );
  subscription.unsubscribe();
});

test('only the receiver of a request can answer it, and only once', async () => {
  const [users, gateway] = [await as('users'), await as('gateway')];
  let replyTo = '';
  users.subscribe('natter.users.get-own-user.*', {
    callback: (_, message) => {
      replyTo = message.reply ?? '';
      message.respond('first');
      message.respond('second');
    },
  });
  await users.flush();
  const answers: string[] = [];
  gateway.subscribe('_INBOX.gateway.mine.*', { callback: (_, message) => void answers.push(message.string()) });
  gateway.publish('natter.users.get-own-user.gateway', '', { reply: '_INBOX.gateway.mine.1' });
  await gateway.flush();
  await expect.poll(() => answers).toContain('first');
  const presence = await as('presence');
  presence.publish(replyTo, 'forged');
  await presence.flush();
  await users.flush();
  await gateway.flush();
  expect(answers).toEqual(['first']);
});

test('a service cannot read the requests or responses of another service', async () => {
  const channels = await as('channels');
  for (const subject of ['natter.users.*.*', '_INBOX.gateway.>', '>']) {
    const refused = new Promise((resolve) =>
      channels.subscribe(subject, {
        callback: (error) => {
          if (error) resolve(error);
        },
      }),
    );
    expect(String(await refused)).toMatch(/permissions violation/i);
  }
});
