import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { behindRows } from '../../held-rows.ts';
import { channel, nameOf } from '../channels/setting.ts';
import { whileConsumerIsHeld } from '../held-consumer.ts';
import { uploadText } from './upload.ts';

let realm: Realm;
let stranger: Client;
beforeAll(async () => {
  realm = await openRealm();
  stranger = await realm.person();
});

const send = (who: Client, form: Json): Promise<Json> => who.ok('POST', '/messages', form);
const toStranger = (content: string): Json => ({ type: 'direct', to: [stranger.user_id], content });
const statusFor = async (who: Client, url: string): Promise<number> => (await who.get(`/${url}`)).status;

/** A file of the owner in a private channel of the owner and the member; changes the subscription of the member. */
async function fileInChannel(form: Json = {}) {
  const { owner, member } = realm;
  const id = await channel(owner, [owner, member], { invite_only: true, ...form });
  const name = await nameOf(owner, id);
  const post = async (): Promise<string> => {
    const url = await uploadText(owner, 'secret');
    await send(owner, { type: 'channel', to: id, topic: 't', content: `see ${url}` });
    return url;
  };
  const principals = [member.user_id];
  return {
    post,
    remove: () => owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: [name], principals }),
    add: () => owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals }),
  };
}

/** The subscription is outdated for longer than requests wait for it. */
const whilePeriodsAreHeld = <R>(work: () => Promise<R>, ms = 8_000): Promise<R> =>
  whileConsumerIsHeld({ realmId: realm.id, schema: 'messaging', name: 'periods' }, ms, work);

test.each(['send', 'edit'])(
  'a user who was just removed from a private channel shares no file of it by a %s',
  async (by) => {
    const { member } = realm;
    const { post, remove } = await fileInChannel();
    const url = await post();
    expect(await statusFor(member, url)).toBe(200);
    const edited = by === 'edit' ? await send(member, toStranger('before')) : undefined;
    await whilePeriodsAreHeld(async () => {
      await remove();
      const { content } = toStranger(`look ${url}`);
      if (edited) await member.ok('PATCH', `/messages/${edited.id}`, { content });
      else await send(member, toStranger(content));
    });
    expect(await statusFor(stranger, url)).toBe(404);
  },
);

test('an edit shares no file of a private channel from which its author is removed during its transaction', async () => {
  const { member } = realm;
  const { post, remove } = await fileInChannel();
  const [kept, lost] = [await uploadText(member, 'own'), await post()];
  const { id } = await send(member, toStranger('before'));
  const rows = 'messaging.message WHERE realm_id = $1 AND id = $2 FOR UPDATE';
  const [edited] = await behindRows(
    { rows, values: [realm.id, id], services: ['messaging'] },
    [() => member.patch(`/messages/${id}`, { content: `look ${kept} ${lost}` })],
    remove,
  );
  expect(edited?.status).toBe(200);
  expect([await statusFor(stranger, kept), await statusFor(stranger, lost)]).toEqual([200, 404]);
});

test('a user shares no file that was posted to a channel with protected history between two subscriptions', async () => {
  const { member } = realm;
  const { post, remove, add } = await fileInChannel({ history_public_to_subscribers: false });
  const received = await post();
  const missed = await whilePeriodsAreHeld(async () => {
    await remove();
    const url = await post();
    await add();
    await send(member, toStranger(`look ${received} ${url}`));
    return url;
  }, 12_000);
  expect([await statusFor(stranger, received), await statusFor(stranger, missed)]).toEqual([200, 404]);
});
