import {
  badRequest,
  ChatError,
  channelOperations,
  type GroupSetting,
  keysOf,
  ownersPermissions,
  type ParamsOf,
  perRequest,
  type RealmPermission,
  type RealmProperty,
  type RealmSettingName,
  type RealmSettingValues,
  type RealmValue,
  type RequestMeta,
  realmChange,
  realmOperations,
  realmPermissions,
  realmSettingNames,
  realmSettings,
} from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { isSameSetting, shownSettings, updatedSetting } from '@natter/permissions';
import {
  type Bus,
  besideWrite,
  type Handlers,
  handleWrite,
  type Owner,
  type UserContext,
  withDeadline,
} from '@natter/service-kit';
import { announcePermissions, emitDict, shownRealm } from '../model/announce-permissions.ts';
import { changeOfGroups } from '../model/change.ts';
import type { UsersConfig } from '../model/config.ts';
import { recomputeFullMembers } from '../model/full-members.ts';
import { holderOf, requireOwner } from '../model/holder.ts';
import { inactiveAmong } from '../model/inactive.ts';
import { settingMirrorNames, settingMirrors, settingsOfMirrors } from '../model/legacy-mirrors.ts';
import { beginLimit, endLimit, limitTrials, wantsLimit } from '../model/limit-guests.ts';
import { checkSetting } from '../model/nameable.ts';
import { lockRealm, type Realm, readRealm } from '../model/read-realm.ts';
import { isTooLarge } from '../model/user-visibility.ts';

type Params = ParamsOf<typeof realmOperations.updateRealm>;
type Settings = Partial<RealmSettingValues>;
type Permissions = Partial<Record<RealmPermission, GroupSetting>>;

const permissionNames = keysOf(realmPermissions);

/** The parameters that only owners may give, even with the current value. */
const ownersParams: readonly (keyof Params)[] = [
  ...realmSettingNames.filter((name) => realmSettings[name].isOwners),
  ...ownersPermissions,
  'authentication_methods',
];

export function updateRealmHandlers(owner: Owner, bus: Bus, config: UsersConfig): Handlers {
  const tryLimit = limitTrials(owner, bus);
  return [
    handleWrite(realmOperations.updateRealm, async (context, params) => {
      const channels = await checkedChannels(bus, context.meta, params);
      await checkLimit(owner, tryLimit, context, params);
      const answer = await changeOfGroups(context, async (work) => {
        work.expectVersions(channels);
        const realm = await lockRealm(work);
        if (ownersParams.some((name) => params[name] !== undefined))
          requireOwner(await holderOf(work, context.actor.userId));
        if (params.authentication_methods && !params.authentication_methods.Email)
          throw badRequest('At least one authentication method must be enabled.');
        const settings = changedSettings(realm, params);
        if (settings.enable_spectator_access === true && !config.WEB_PUBLIC_STREAMS_ENABLED)
          throw badRequest('Web-public channels are not enabled.');
        const inactive = await inactiveAmong(work, realm.id, Object.values(realm.permissions));
        const permissions = await changedPermissions(work, realm, params, inactive);
        await store(work, settings, permissions);
        announceSettings(work, realm, settings);
        const changed = { ...realm, permissions: { ...realm.permissions, ...permissions } };
        announcePermissions(work, shownRealm(realm, inactive), shownRealm(changed, inactive));
        if (settings.waiting_period_threshold !== undefined) await recomputeFullMembers(work);
        if (!wantsLimit(changed)) await endLimit(work);
        return { ...settings, ...shownSettings(permissions, inactive) };
      });
      if ('can_access_all_users_group' in answer) await limitNow(owner, bus, context);
      return answer;
    }),
  ];
}

/**
 * Refuses a limit that could not begin because it would hide too many users from guests at once, or takes too long. A
 * limit that cannot be tried, because another service does not answer, is accepted. A value that the change refuses is
 * not tried. Some of the time is left to the change itself.
 */
async function checkLimit(
  { database }: Owner,
  tryLimit: ReturnType<typeof limitTrials>,
  { meta, log, attempt, deadline }: UserContext,
  { can_access_all_users_group: update }: Params,
): Promise<void> {
  if (update === undefined || attempt > 0) return;
  const realm = await readRealm(database, meta.realmId);
  updatedSetting(realm.permissions.can_access_all_users_group, update, new Set());
  if (wantsLimit(realm) || !isSameSetting(update.new, realm.systemGroups['role:members'])) return;
  const isKnown = await withDeadline(deadline.remainingMs() / 2, () => tryLimit(meta)).catch((error: unknown) => {
    throw isTooLarge(error)
      ? badRequest('The organization has too many users, groups and guests to limit which users guests see.')
      : error;
  });
  if (!isKnown) log.warn('whether a limit of guests can begin is unknown: a service does not answer');
}

/** If a service is unavailable, or the time is short, the limit begins later. */
async function limitNow(owner: Owner, bus: Bus, { meta, log, deadline }: UserContext): Promise<void> {
  if (!wantsLimit(await readRealm(owner.database, meta.realmId))) return;
  // A limit that is in force does not begin again.
  const begin = () => besideWrite(() => beginLimit(owner, bus, meta));
  await withDeadline(deadline.remainingMs() / 2, begin).catch((error: unknown) =>
    log.warn({ err: error }, 'limiting the guests of a realm failed; it will be retried'),
  );
}

function changedSettings(realm: Realm, params: Params): Settings {
  const changed = settingsOfMirrors(realm.settings, params);
  for (const name of realmSettingNames) if (params[name] !== undefined) delete changed[name];
  for (const name of realmSettingNames) if (params[name] !== realm.settings[name]) set(changed, name, params[name]);
  return changed;
}

function set<N extends RealmSettingName>(settings: Settings, name: N, value: RealmSettingValues[N] | undefined): void {
  if (value !== undefined) settings[name] = value;
}

async function changedPermissions(
  work: Work,
  realm: Realm,
  params: Params,
  inactive: ReadonlySet<number>,
): Promise<Permissions> {
  const changed: Permissions = {};
  for (const name of permissionNames) {
    const stored = realm.permissions[name];
    const value = updatedSetting(stored, params[name], inactive);
    if (value === undefined) continue;
    await checkSetting(work, [name, realmPermissions[name]], value, stored);
    changed[name] = value;
  }
  requireShort(realm.permissions, { ...realm.permissions, ...changed });
  return changed;
}

function requireShort(before: object, after: object): void {
  const length = JSON.stringify(after).length;
  if (length > perRequest.realmPermissions && length > JSON.stringify(before).length)
    throw badRequest('The permissions of the organization name too many users. Use user groups.');
}

export async function store(work: Work, { name, description, ...settings }: Settings, permissions: Permissions) {
  if (name === undefined && description === undefined && Object.keys({ ...settings, ...permissions }).length === 0)
    return;
  await work.run(sql.unsafe`
    UPDATE users.realm SET settings = settings || ${JSON.stringify(settings)}::jsonb, permissions = permissions || ${JSON.stringify(permissions)}::jsonb,
      name = coalesce(${name ?? null}, name), description = coalesce(${description ?? null}, description)
    WHERE id = ${work.realmId}`);
  work.bump('realm');
}

function announceSettings(work: Work, realm: Realm, changed: Settings): void {
  const linked: Settings = {};
  for (const name of realmSettingNames) {
    const value = changed[name];
    if (value === undefined) continue;
    if (realmSettings[name].isLinked) set(linked, name, value);
    else emitUpdate(work, name, value);
  }
  if (Object.keys(linked).length > 0) emitDict(work, linked);
  const [before, after] = [settingMirrors(realm.settings), settingMirrors({ ...realm.settings, ...changed })];
  for (const name of settingMirrorNames) if (after[name] !== before[name]) emitUpdate(work, name, after[name]);
}

export function emitUpdate<P extends RealmProperty>(work: Work, property: P, value: RealmValue<P>): void {
  work.emit({ type: 'realm', op: 'update', body: realmChange(property, value), audience: 'realm' });
}

/**
 * Channels belong to another service, which is queried before the unit begins. Returns their versions: a channel that is
 * archived or made public meanwhile is checked again.
 */
async function checkedChannels(bus: Bus, meta: RequestMeta, params: Params): Promise<Record<string, number>> {
  const versions: Record<string, number> = {};
  for (const name of realmSettingNames) {
    const id = params[name];
    if (!realmSettings[name].isChannel || typeof id !== 'number' || id === -1) continue;
    const rules = await bus.call(channelOperations.getPostingRules, { channel: id }, { meta }).catch((error) => {
      if (error instanceof ChatError && error.code === 'STREAM_DOES_NOT_EXIST') return undefined;
      throw error;
    });
    if (!rules || rules.is_archived) throw badRequest('Invalid channel ID');
    if (name === 'moderation_request_channel_id' && !rules.is_private)
      throw badRequest('Moderation request channel must be private.');
    versions[`channel:${id}`] = rules.version;
  }
  return versions;
}
