import { beforeAll, describe, expect, test } from 'vitest';
import { type Client, type Json, openRealm, type Realm } from '../../../libs/testkit/src/index.ts';

let realm: Realm;
let guest: Client;
/** People whom the guest may not see, with the state of their accounts. */
let hidden: { name: string; person: Client }[];
const nobody = { id: 999_999_999, email: 'nobody@corp.example' };
const later = () => Math.floor(Date.now() / 1000) + 3_600;

beforeAll(async () => {
  realm = await openRealm();
  guest = await realm.person({ role: 'guest' });
  const [active, former] = [await realm.person(), await realm.person()];
  hidden = [
    { name: 'active', person: active },
    { name: 'deactivated', person: former },
  ];
  await realm.owner.ok('DELETE', `/users/${former.user_id}`);
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  const members = user_groups.find((group: Json) => group.name === 'role:members').id;
  await realm.owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: members } });
});

/** The answer, with what the request named replaced. */
async function answered(ask: (who: number | string) => Promise<{ status: number; body: Json }>, who: number | string) {
  const { status, body } = await ask(who);
  return [status, JSON.stringify(body).replaceAll(String(who), 'WHO')];
}

/** The answer about each hidden person, by ID and address, is that about nobody. */
async function expectUnknown(ask: (who: number | string) => Promise<{ status: number; body: Json }>, byEmail = true) {
  const ofNobody = await answered(ask, nobody.id);
  expect(ofNobody[0]).toBe(400);
  for (const { name, person } of hidden)
    expect([name, ...(await answered(ask, person.user_id))]).toEqual([name, ...ofNobody]);
  if (!byEmail) return;
  const noAddress = await answered(ask, nobody.email);
  expect(noAddress[0]).toBe(400);
  for (const { name, person } of hidden)
    for (const address of [person.email, person.email.toUpperCase()])
      expect([name, ...(await answered(ask, address))]).toEqual([name, ...noAddress]);
}

describe('a guest who names a user they may not see gets the error for a missing user', () => {
  test('in direct messages to that user alone and with others', async () => {
    const send = (to: (number | string)[]) => guest.post('/messages', { type: 'direct', to, content: 'hello' });
    await expectUnknown((who) => send([who]));
    await expectUnknown((who) => send([who, typeof who === 'number' ? guest.user_id : guest.email]));
    // The first unknown one is named, whether hidden or not.
    for (const { person } of hidden) {
      const both = await send([person.user_id, nobody.id]);
      expect(both.body.msg).toBe(`Invalid user ID ${person.user_id}`);
      const turned = await send([nobody.id, person.user_id]);
      expect(turned.body.msg).toBe(`Invalid user ID ${nobody.id}`);
    }
  });

  test('in new and edited scheduled messages', async () => {
    const form = { type: 'direct', content: 'hello', scheduled_delivery_timestamp: later() };
    await expectUnknown((who) => guest.post('/scheduled_messages', { ...form, to: [who] }), false);
    const { scheduled_message_id } = await guest.ok('POST', '/scheduled_messages', { ...form, to: [guest.user_id] });
    await expectUnknown(
      (who) => guest.patch(`/scheduled_messages/${scheduled_message_id}`, { type: 'direct', to: [who] }),
      false,
    );
  });

  test('in typing notifications and drafts', async () => {
    await expectUnknown((who) => guest.post('/typing', { op: 'start', to: [who] }), false);
    const draft = (to: number | string) => ({ type: 'private', to: [to], topic: '', content: 'hello' });
    await expectUnknown((who) => guest.post('/drafts', { drafts: [draft(who)] }), false);
  });

  test('in subscriptions, mutes and requests about the user', async () => {
    const subscriptions = [{ name: 'somewhere' }];
    await expectUnknown((who) => guest.post('/users/me/subscriptions', { subscriptions, principals: [who] }));
    const [permitting, refusing] = ['permitting', 'refusing'];
    for (const [name, holder] of [
      [permitting, guest],
      [refusing, realm.owner],
    ] as const)
      await realm.owner.ok('POST', '/users/me/subscriptions', {
        subscriptions: [{ name }],
        principals: [guest.user_id],
        can_remove_subscribers_group: { direct_members: [holder.user_id], direct_subgroups: [] },
      });
    for (const name of [permitting, refusing, 'no such channel'])
      await expectUnknown((who) =>
        guest.delete('/users/me/subscriptions', { subscriptions: [name], principals: [who] }),
      );
    await expectUnknown((who) => guest.post(`/users/me/muted_users/${who}`), false);
    await expectUnknown((who) => guest.get(`/users/${who}/presence`));
    await expectUnknown((who) => guest.get(`/users/${who}/status`), false);
    await expectUnknown((who) => guest.get(`/users/${who}/channels`), false);
    await expectUnknown((who) => guest.get(`/users/${who}`));
  });

  test('as a bot to change', async () => {
    const made = await realm.member.ok('POST', '/bots', { full_name: 'Hidden bot', short_name: 'hidden' });
    for (const ask of [
      (id: number | string) => guest.get(`/bots/${id}/api_key`),
      (id: number | string) => guest.post(`/bots/${id}/api_key/regenerate`),
      (id: number | string) => guest.patch(`/bots/${id}`, { full_name: 'Another name' }),
      (id: number | string) => guest.delete(`/bots/${id}`),
    ]) {
      await expectUnknown(ask, false);
      expect(await answered(ask, made.user_id)).toEqual(await answered(ask, nobody.id));
    }
  });

  test('as an owner of a bot', async () => {
    const owner = await realm.person();
    const bot = await owner.ok('POST', '/bots', {
      full_name: `Bot of ${owner.user_id}`,
      short_name: `b${owner.user_id}`,
    });
    await realm.owner.ok('PATCH', `/users/${owner.user_id}`, { role: 600 });
    await expectUnknown((who) => owner.patch(`/bots/${bot.user_id}`, { bot_owner_id: who }), false);
  });
});

test('a guest gets the error for a deactivated user if the user wrote to them before', async () => {
  const friend = await realm.person();
  await friend.ok('POST', '/messages', { type: 'direct', to: [guest.user_id], content: 'hello' });
  await realm.owner.ok('DELETE', `/users/${friend.user_id}`);
  // The users service applies some time after the message that the two users may see each other.
  const refusal = async () => {
    const { body } = await guest.post('/messages', { type: 'direct', to: [friend.user_id], content: 'hello' });
    return body.msg;
  };
  await expect.poll(refusal).toBe(`'${friend.email}' is no longer using this server.`);
});
