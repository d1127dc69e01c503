import type { Json } from '@natter/testkit';

/** A client's state of users, bots and its own settings. Written from the event catalogue. */
export interface State {
  /** All users, including deactivated ones. */
  users: Map<number, Json>;
  bots: Map<number, Json>;
  statuses: Map<number, Json>;
  muted: Json;
  alertWords: Json;
  settings: Json;
  defaults: Json;
  /** The own record beside `users`. */
  own: Json;
}

export const fetched = [
  'realm_user',
  'realm_bot',
  'user_status',
  'muted_users',
  'alert_words',
  'user_settings',
  'realm_user_settings_defaults',
];
export const followed = [...fetched, 'update_display_settings', 'update_global_notifications'];

const ownKeys = [
  'email',
  'delivery_email',
  'full_name',
  'avatar_source',
  'is_owner',
  'is_admin',
  'is_moderator',
  'is_guest',
];

export function stateOf(register: Json): State {
  const users = [...register.realm_users, ...register.realm_non_active_users];
  const own = Object.fromEntries(ownKeys.map((key) => [key, register[key]]));
  return {
    users: new Map(users.map((user: Json) => [user.user_id, structuredClone(user)])),
    bots: new Map(register.realm_bots.map((bot: Json) => [bot.user_id, structuredClone(bot)])),
    statuses: new Map(Object.entries(register.user_status).map(([id, status]) => [Number(id), status])),
    muted: register.muted_users,
    alertWords: register.alert_words,
    settings: { ...register.user_settings },
    defaults: { ...register.realm_user_settings_defaults },
    own: { user_id: register.user_id, ...own },
  };
}

const rolesOf = (role: number): Json => ({
  role,
  is_owner: role === 100,
  is_admin: role <= 200,
  is_guest: role === 600,
});

function changePerson(state: State, { user_id, ...person }: Json): void {
  const user = state.users.get(user_id);
  if (!user) return;
  const { new_email, custom_profile_field, role, ...rest } = person;
  if (role !== undefined) Object.assign(user, rolesOf(role));
  if (new_email !== undefined) user.email = new_email;
  const kept = Object.entries(rest).filter(([name]) => name in user);
  Object.assign(user, Object.fromEntries(kept));
  if (user_id !== state.own.user_id) return;
  for (const [name, value] of Object.entries(rest)) if (name in state.own) state.own[name] = value;
  if (new_email !== undefined) state.own.email = new_email;
  if (role === undefined) return;
  const { role: _, ...flags } = rolesOf(role);
  Object.assign(state.own, flags, { is_moderator: role <= 300 });
}

export function apply(state: State, event: Json): void {
  const kind = event.op === undefined ? event.type : `${event.type}/${event.op}`;
  switch (kind) {
    case 'realm_user/add':
      state.users.set(event.person.user_id, structuredClone(event.person));
      break;
    case 'realm_user/remove':
      state.users.delete(event.person.user_id);
      break;
    case 'realm_user/update':
      changePerson(state, event.person);
      break;
    case 'realm_bot/add':
      state.bots.set(event.bot.user_id, structuredClone(event.bot));
      break;
    case 'realm_bot/update':
      Object.assign(state.bots.get(event.bot.user_id), event.bot);
      break;
    case 'realm_bot/delete':
      state.bots.delete(event.bot.user_id);
      break;
    case 'user_status': {
      const { type, id, user_id, ...changes } = event;
      const merged = { ...state.statuses.get(user_id), ...changes };
      if (changes.emoji_name === '') Object.assign(merged, { emoji_code: '', reaction_type: '' });
      const set = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== '' && value !== false));
      if (Object.keys(set).length === 0) state.statuses.delete(user_id);
      else state.statuses.set(user_id, set);
      break;
    }
    case 'muted_users':
      state.muted = event.muted_users;
      break;
    case 'alert_words':
      state.alertWords = event.alert_words;
      break;
    case 'user_settings/update':
      state.settings[event.property] = event.value;
      break;
    case 'realm_user_settings_defaults/update':
      state.defaults[event.property] = event.value;
      break;
    case 'update_display_settings':
    case 'update_global_notifications':
      break;
    default:
      throw new Error(`an event that the catalogue does not name: ${kind}`);
  }
}

/** Comparable form: maps sorted by key; avatars that clients compute from addresses are omitted. */
export const comparable = (state: State): Json =>
  Object.fromEntries(
    Object.entries(state).map(([name, part]) => [
      name,
      part instanceof Map
        ? [...part].sort(([a], [b]) => a - b).map(([id, { profile_data, ...one }]) => [id, one])
        : part,
    ]),
  );
