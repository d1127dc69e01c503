import type { Client, Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { badRequest, channel, freshName, group, openQuietRealm, refused, standing, systemGroups } from './setting.ts';

let realm: Realm;
let groups: Record<string, number>;
beforeAll(async () => {
  realm = await openQuietRealm();
  groups = await systemGroups(realm);
});

test('lets administrators set the topics policy and who deletes messages, whoever else may', async () => {
  const { administrator, owner, moderator } = realm;
  const nobody = { new: groups['role:nobody'] };
  await owner.ok('PATCH', '/realm', {
    can_set_topics_policy_group: nobody,
    can_set_delete_message_policy_group: { new: groups['role:owners'] },
  });
  const managers = await group(realm, [moderator]);
  const forms = [
    [{ topics_policy: 'allow_empty_topic' }, { topics_policy: 'allow_empty_topic' }],
    [
      { can_delete_any_message_group: groups['role:members'] },
      { can_delete_any_message_group: { new: groups['role:members'] } },
    ],
  ];
  for (const [created, changed] of forms) {
    const name = freshName();
    const create = (who: Client) => who.post('/channels/create', { name, subscribers: [], ...created });
    expect(refused(await create(moderator))).toEqual(badRequest);
    expect((await create(administrator)).status).toBe(200);
    const id = await channel(owner, [], { can_administer_channel_group: managers });
    expect(refused(await moderator.patch(`/streams/${id}`, changed))).toEqual(badRequest);
    expect((await administrator.patch(`/streams/${id}`, changed)).status).toBe(200);
  }
  await owner.ok('PATCH', '/realm', {
    can_set_topics_policy_group: { new: groups['role:members'] },
    can_set_delete_message_policy_group: { new: groups['role:moderators'] },
  });
});

test('lets the creator of a channel add others to it in the same request alone', async () => {
  const { owner, moderator, member, member2 } = realm;
  await owner.ok('PATCH', '/realm', { can_add_subscribers_group: { new: groups['role:administrators'] } });
  const form = { can_administer_channel_group: groups['role:administrators'] };
  const add = (name: string, { user_id }: Client) =>
    moderator.post('/users/me/subscriptions', { subscriptions: [{ name }], principals: [user_id], ...form });
  const name = freshName();
  expect((await add(name, member)).body.subscribed).toEqual({ [member.user_id]: [name] });
  expect(refused(await add(name, member2))).toEqual(badRequest);
  const id = await channel(moderator, [member2], form);
  expect(await standing(member2, id)).toBe('subscriptions');
  await owner.ok('PATCH', '/realm', { can_add_subscribers_group: { new: groups['role:members'] } });
});
