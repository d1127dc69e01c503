import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { bringServers, type Servers } from '@natter/local';
import { derivedPassword, type NatsUser, natsAuthorization } from '@natter/service-kit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const passwordOf = (user: NatsUser): string => derivedPassword('secret', user);
let servers: Servers;
const open: NatsConnection[] = [];
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-test-'));
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

test('nobody connects without the password of their service', async () => {
  await expect(as('users', 'wrong')).rejects.toThrow(/authorization violation/i);
});

test('a request arrives under the name of who asks, and in no other name', async () => {
  const [users, gateway, channels] = [await as('users'), await as('gateway'), await as('channels')];
  users.subscribe('natter.users.whoami.*', {
    callback: (_, message) => void message.respond(message.subject.split('.').at(-1)),
  });
  await users.flush();
  const answer = await gateway.request('natter.users.whoami.gateway', '', { timeout: 2_000 });
  expect(answer.string()).toBe('gateway');
  await expect(channels.request('natter.users.whoami.gateway', '', { timeout: 500 })).rejects.toThrow();
});

test('a service reads neither the requests nor the answers of another', async () => {
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
