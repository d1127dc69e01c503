import { readFileSync } from 'node:fs';
import { type Client, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

const statusOf = (client: Client): Promise<Json> => client.ok('GET', '/server/status');
const isHere = (client: Client): Promise<Json> => client.ok('POST', '/users/me/presence', { status: 'active' });
const countsOf = async (client: Client): Promise<Json> => {
  const { people_online, event_queues } = await statusOf(client);
  return [people_online, event_queues];
};

test('an administrator gets the availability, version and latency of each service, and nothing else', async () => {
  const { owner } = await openRealm();
  const service = (name: string) => ({
    name,
    is_available: true,
    versions: [version],
    latency_ms: expect.toSatisfy((ms: number) => ms >= 0),
  });
  // On a busy machine a service may answer too late.
  await expect
    .poll(() => statusOf(owner))
    .toEqual({
      result: 'success',
      msg: '',
      server_version: version,
      services: ['gateway', 'users', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue'].map(service),
      people_online: 0,
      event_queues: 0,
    });
});

test('only users and event queues of the same organization are counted', async () => {
  const [realm, other] = [await openRealm(), await openRealm()];
  const { owner, member, member2, guest } = realm;
  await Promise.all([member, guest, other.owner, other.member, other.member2].map(isHere));
  await other.member.queue();
  const queues = [await member.queue(), await member.queue(), await owner.queue()];
  await expect.poll(() => countsOf(owner)).toEqual([2, 3]);
  await expect.poll(() => countsOf(other.administrator)).toEqual([3, 1]);
  await member.ok('DELETE', '/events', { queue_id: queues[0]?.id });
  await isHere(member2);
  await expect.poll(() => countsOf(owner)).toEqual([3, 2]);
});

test('deactivated users and users who hide their presence do not count as online', async () => {
  const { owner, member, member2, moderator } = await openRealm();
  await Promise.all([member, member2, moderator].map(isHere));
  const online = async () => (await statusOf(owner)).people_online;
  await expect.poll(online).toBe(3);
  await owner.ok('DELETE', `/users/${member.user_id}`);
  await expect.poll(online).toBe(2);
  await member2.ok('PATCH', '/settings', { presence_enabled: false });
  await expect.poll(online).toBe(1);
  await owner.ok('PATCH', '/realm', { presence_disabled: true });
  await expect.poll(online).toBe(null);
});

test('a demoted administrator is rejected at once', async () => {
  const { owner, administrator } = await openRealm();
  await statusOf(administrator);
  await owner.ok('PATCH', `/users/${administrator.user_id}`, { role: 400 });
  const { status, body } = await administrator.get('/server/status');
  expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Must be an organization administrator']);
});
