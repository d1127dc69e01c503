import type { Json } from '@natter/testkit';

/** A client's state of the realm, its groups and own settings. Written from the event catalogue. */
export interface State {
  realm: Record<string, Json>;
  groups: Map<number, Json>;
  domains: Map<string, Json>;
  emoji: Json;
  linkifiers: Json;
  playgrounds: Json;
  fields: Json;
  profiles: Map<number, Json>;
  views: Map<string, Json>;
  snippets: Map<number, Json>;
  steps: Json;
}

export const fetched = [
  'realm',
  'realm_user_groups',
  'realm_domains',
  'realm_emoji',
  'realm_linkifiers',
  'realm_playgrounds',
  'custom_profile_fields',
  'realm_user',
  'navigation_views',
  'saved_snippets',
  'onboarding_steps',
];
export const followed = [
  'realm',
  'user_group',
  'realm_domains',
  'realm_emoji',
  'realm_linkifiers',
  'realm_playgrounds',
  'custom_profile_fields',
  'realm_user',
  'navigation_view',
  'saved_snippets',
  'onboarding_steps',
];

const by = (list: Json[], key: string): Map<Json, Json> =>
  new Map(list.map((item) => [item[key], structuredClone(item)]));

export function stateOf(register: Json): State {
  const people = [...register.realm_users, ...register.realm_non_active_users];
  return {
    realm: Object.fromEntries(
      Object.entries(register).filter(([name]) => name.startsWith('realm_') && !owned.has(name)),
    ),
    groups: by(register.realm_user_groups, 'id'),
    domains: by(register.realm_domains, 'domain'),
    emoji: register.realm_emoji,
    linkifiers: register.realm_linkifiers,
    playgrounds: register.realm_playgrounds,
    fields: register.custom_profile_fields,
    profiles: new Map(people.map((user) => [user.user_id, structuredClone(user.profile_data ?? {})])),
    views: by(register.navigation_views, 'fragment'),
    snippets: by(register.saved_snippets, 'id'),
    steps: register.onboarding_steps,
  };
}

/** Keys with the prefix of settings that are none. */
const owned = new Set([
  'realm_users',
  'realm_non_active_users',
  'realm_user_groups',
  'realm_domains',
  'realm_emoji',
  'realm_linkifiers',
  'realm_playgrounds',
]);

const ascending = (a: number, b: number): number => a - b;

export function apply(state: State, event: Json): void {
  const kind = event.op === undefined ? event.type : `${event.type}/${event.op}`;
  const group = state.groups.get(event.group_id);
  const add = (list: number[], ids: number[]): number[] => [...new Set([...list, ...ids])].sort(ascending);
  const remove = (list: number[], ids: number[]): number[] => list.filter((id) => !ids.includes(id));
  switch (kind) {
    case 'realm/update':
      state.realm[`realm_${event.property}`] = event.value;
      break;
    case 'realm/update_dict':
      for (const [name, value] of Object.entries(event.data)) state.realm[`realm_${name}`] = value;
      break;
    case 'user_group/add':
      state.groups.set(event.group.id, structuredClone(event.group));
      break;
    case 'user_group/remove':
      state.groups.delete(event.group_id);
      break;
    case 'user_group/update':
      Object.assign(group, event.data);
      break;
    case 'user_group/add_members':
      group.members = add(group.members, event.user_ids);
      break;
    case 'user_group/remove_members':
      group.members = remove(group.members, event.user_ids);
      break;
    case 'user_group/add_subgroups':
      group.direct_subgroup_ids = add(group.direct_subgroup_ids, event.direct_subgroup_ids);
      break;
    case 'user_group/remove_subgroups':
      group.direct_subgroup_ids = remove(group.direct_subgroup_ids, event.direct_subgroup_ids);
      break;
    case 'realm_domains/add':
    case 'realm_domains/change':
      state.domains.set(event.realm_domain.domain, event.realm_domain);
      break;
    case 'realm_domains/remove':
      state.domains.delete(event.domain);
      break;
    case 'realm_emoji/update':
      state.emoji = event.realm_emoji;
      break;
    case 'realm_linkifiers':
      state.linkifiers = event.realm_linkifiers;
      break;
    case 'realm_playgrounds':
      state.playgrounds = event.realm_playgrounds;
      break;
    case 'custom_profile_fields':
      state.fields = event.fields;
      for (const profile of state.profiles.values()) dropValues(profile, event.fields);
      break;
    case 'realm_user/add':
      state.profiles.set(event.person.user_id, event.person.profile_data ?? {});
      break;
    case 'realm_user/update': {
      const field = event.person.custom_profile_field;
      const profile = state.profiles.get(event.person.user_id);
      if (!field || !profile) break;
      const { id, ...value } = field;
      if (value.value === null) delete profile[id];
      else profile[id] = value;
      break;
    }
    case 'navigation_view/add':
      state.views.set(event.navigation_view.fragment, structuredClone(event.navigation_view));
      break;
    case 'navigation_view/update':
      Object.assign(state.views.get(event.fragment), event.data);
      break;
    case 'navigation_view/remove':
      state.views.delete(event.fragment);
      break;
    case 'saved_snippets/add':
    case 'saved_snippets/update':
      state.snippets.set(event.saved_snippet.id, event.saved_snippet);
      break;
    case 'saved_snippets/remove':
      state.snippets.delete(event.saved_snippet_id);
      break;
    case 'onboarding_steps':
      state.steps = event.onboarding_steps;
      break;
    default:
      throw new Error(`an event that the catalogue does not name: ${kind}`);
  }
}

/** Values of fields and options that are missing from the list of the fields. */
function dropValues(profile: Json, fields: Json[]): void {
  for (const [id, { value }] of Object.entries<Json>(profile)) {
    const field = fields.find((one) => one.id === Number(id));
    if (!field || (field.type === 3 && !(value in JSON.parse(field.field_data)))) delete profile[id];
  }
}

/** Comparable form: maps sorted by key. */
export const comparable = (state: State): Json =>
  Object.fromEntries(
    Object.entries(state).map(([name, part]) => [
      name,
      part instanceof Map ? [...part].sort(([a], [b]) => (a < b ? -1 : 1)) : part,
    ]),
  );
