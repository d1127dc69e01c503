import { type Client, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';
import { randomOf } from '../../kills.ts';
import { expectFreshStates, type Follower, follower } from '../followers.ts';
import { apply, comparable, fetched, followed, type State, stateOf } from './client-state.ts';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`state plus events equals a fresh register for the realm, groups, fields and personal data (seed ${seed})`, async () => {
  const realm = await openRealm();
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const number = (below: number): number => Math.floor(random() * below);
  const roles = ['owner', 'administrator', 'moderator', 'member', 'member2', 'guest'] as const;
  const anybody = (): Client => realm[pick(roles)];
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  const system: number[] = user_groups.map((group: Json) => group.id);
  const made: Record<'groups' | 'fields' | 'linkifiers' | 'playgrounds' | 'snippets' | 'users', number[]> = {
    groups: [],
    fields: [],
    linkifiers: [],
    playgrounds: [],
    snippets: [],
    users: roles.map((role) => realm[role].user_id),
  };
  const keep = async (kind: keyof typeof made, name: string, answer: Promise<Json>): Promise<void> => {
    const { status, body } = await answer;
    if (status === 200) made[kind].push(body[name]);
  };
  /** A user who is no follower, and who is deactivated and reactivated. */
  const anyOther = (): number => pick(made.users.slice(roles.length));
  const anyGroup = (): number => pick([...system, ...made.groups]);
  const value = (): Json =>
    random() < 0.5 ? anyGroup() : { direct_members: [pick(made.users)], direct_subgroups: [anyGroup()] };
  const views = ['inbox', 'recent', 'narrow/is/starred'];

  const operations: (() => Promise<unknown>)[] = [
    () => realm.owner.patch('/realm', { waiting_period_threshold: pick([0, 5]) }),
    () => realm.owner.patch('/realm', { topics_policy: pick(['allow_empty_topic', 'disable_empty_topic']) }),
    () => realm.owner.patch('/realm', { allow_message_editing: random() < 0.5, digest_weekday: number(7) }),
    () => realm.owner.patch('/realm', { message_content_edit_limit_seconds: pick([60, 600, 'unlimited']) }),
    () =>
      realm.owner.patch('/realm', {
        [pick(['can_create_bots_group', 'can_mention_many_users_group', 'direct_message_permission_group'])]: {
          new: value(),
        },
      }),
    () =>
      keep(
        'groups',
        'group_id',
        anybody().post('/user_groups/create', {
          name: `g${number(1e9)}`,
          description: '',
          members: [pick(made.users)],
          can_join_group: pick(system),
        }),
      ),
    () => realm.owner.post(`/user_groups/${pick(made.groups)}/members`, { add: [pick(made.users)] }),
    () => realm.owner.post(`/user_groups/${pick(made.groups)}/members`, { delete: [pick(made.users)] }),
    () => realm.owner.post(`/user_groups/${pick(made.groups)}/subgroups`, { add: [anyGroup()] }),
    () => realm.owner.post(`/user_groups/${pick(made.groups)}/subgroups`, { delete: [anyGroup()] }),
    () => realm.owner.patch(`/user_groups/${pick(made.groups)}`, { name: `n${number(1e9)}` }),
    () =>
      realm.owner.patch(`/user_groups/${pick(made.groups)}`, {
        [pick(['can_mention_group', 'can_manage_group'])]: { new: value() },
      }),
    () => realm.owner.post(`/user_groups/${pick(made.groups)}/deactivate`),
    () => realm.owner.patch(`/user_groups/${pick(made.groups)}`, { deactivated: false }),
    () => realm.owner.patch(`/users/${pick(made.users.slice(2))}`, { role: pick([200, 300, 400, 600]) }),
    () => realm.person().then((person) => made.users.push(person.user_id)),
    () => realm.owner.delete(`/users/${anyOther()}`),
    () => realm.owner.post(`/users/${anyOther()}/reactivate`),
    () => realm.owner.post('/realm/domains', { domain: `d${number(3)}.example`, allow_subdomains: random() < 0.5 }),
    () => realm.owner.patch(`/realm/domains/d${number(3)}.example`, { allow_subdomains: random() < 0.5 }),
    () => realm.owner.delete(`/realm/domains/d${number(3)}.example`),
    () =>
      keep(
        'linkifiers',
        'id',
        realm.owner.post('/realm/filters', { pattern: `p${number(9)}`, url_template: 'https://e.example' }),
      ),
    () => realm.owner.patch('/realm/linkifiers', { ordered_linkifier_ids: [...made.linkifiers].reverse() }),
    () => realm.owner.delete(`/realm/filters/${pick(made.linkifiers)}`),
    () =>
      keep(
        'playgrounds',
        'id',
        realm.owner.post('/realm/playgrounds', {
          name: `p${number(9)}`,
          pygments_language: 'Python',
          url_template: 'https://e.example/{code}',
        }),
      ),
    () => realm.owner.delete(`/realm/playgrounds/${pick(made.playgrounds)}`),
    () =>
      keep(
        'fields',
        'id',
        realm.owner.post('/realm/profile_fields', { name: `f${number(9)}`, field_type: pick([1, 2]) }),
      ),
    () => realm.owner.patch(`/realm/profile_fields/${pick(made.fields)}`, { hint: `h${number(9)}` }),
    () => (random() < 0.3 ? realm.owner.delete(`/realm/profile_fields/${pick(made.fields)}`) : Promise.resolve()),
    () => anybody().patch('/users/me/profile_data', { data: [{ id: pick(made.fields), value: `*v${number(9)}*` }] }),
    () => anybody().delete('/users/me/profile_data', { data: [pick(made.fields)] }),
    () => anybody().post('/navigation_views', { fragment: pick(views), is_pinned: random() < 0.5 }),
    () => anybody().patch(`/navigation_views/${encodeURIComponent(pick(views))}`, { is_pinned: random() < 0.5 }),
    () => anybody().delete(`/navigation_views/${encodeURIComponent(pick(views))}`),
    () =>
      keep('snippets', 'saved_snippet_id', anybody().post('/saved_snippets', { title: `t${number(9)}`, content: 'c' })),
    () => anybody().patch(`/saved_snippets/${pick(made.snippets)}`, { title: `t${number(9)}` }),
    () => anybody().delete(`/saved_snippets/${pick(made.snippets)}`),
    () =>
      anybody().post('/users/me/onboarding_steps', {
        onboarding_step: pick(['intro_resolve_topic', 'intro_inbox_view_modal']),
      }),
  ];

  const keeping = { stateOf, apply, comparable };
  const followers: Follower<State>[] = [];
  const follow = async (): Promise<void> => {
    const client = anybody();
    const client_capabilities = {
      include_deactivated_groups: random() < 0.5,
      linkifier_url_template: random() < 0.5,
    };
    const form = { event_types: followed, fetch_event_types: fetched, client_gravatar: false, client_capabilities };
    followers.push(await follower(client, form, keeping));
  };
  for (let round = 0; round < 80; round++)
    await Promise.all([
      pick(operations)(),
      pick(operations)(),
      pick(operations)(),
      round % 5 === 0 ? follow() : undefined,
    ]);

  const counts = await expectFreshStates(followers, keeping);
  console.log(`${followers.length} followers`, counts);
  expect(followers.length).toBe(16);
});
