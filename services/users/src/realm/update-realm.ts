import {
  badRequest,
  ChatError,
  channelOperations,
  type GroupSetting,
  type GroupSettingUpdate,
  type ParamsOf,
  type RealmPermission,
  type RealmSetting,
  type RealmSettingName,
  type RequestMeta,
  realmOperations,
  realmPermissions,
  realmSettingNames,
  realmSettings,
} from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { isSameSetting, normalized } from '@natter/permissions';
import { type Bus, type Handlers, handle, type Owner, type UserContext } from '@natter/service-kit';
import { changeOfGroups } from '../change.ts';
import type { UsersConfig } from '../config.ts';
import { recomputeFullMembers } from '../groups/full-members.ts';
import { holderOf, requireAdministrator, requireOwner } from '../groups/holder.ts';
import { checkedSetting } from '../groups/nameable.ts';
import { beginLimit, endLimit, wantsLimit } from '../sight/limit-guests.ts';
import { permissionMirrors, settingMirrors } from './legacy-mirrors.ts';
import { lockRealm, type Realm, readRealm } from './read-realm.ts';

type Params = ParamsOf<typeof realmOperations.updateRealm>;
type Values = Record<string, unknown>;

const permissionNames = Object.keys(realmPermissions) as RealmPermission[];

export function updateRealmHandlers(owner: Owner, bus: Bus, config: UsersConfig): Handlers {
  return [
    handle(realmOperations.updateRealm, async (context, params) => {
      await checkChannels(bus, context.meta, params);
      const answer = await changeOfGroups(owner, context, async (work) => {
        const realm = await lockRealm(work);
        const holder = await holderOf(work, context.actor.userId);
        requireAdministrator(holder);
        const settings = changedSettings(realm, params);
        if (Object.keys(settings).some((name) => realmSettings[name as RealmSettingName].isOwners))
          requireOwner(holder);
        if (settings.enable_spectator_access === true && !config.WEB_PUBLIC_STREAMS_ENABLED)
          throw badRequest('Web-public channels are not enabled.');
        if (params.authentication_methods !== undefined) {
          requireOwner(holder);
          if (!params.authentication_methods.Email)
            throw badRequest('At least one authentication method must be enabled.');
        }
        const permissions = await changedPermissions(work, realm, params);
        await store(work, settings, permissions);
        announceSettings(work, realm, settings);
        announcePermissions(work, realm, permissions);
        if (settings.waiting_period_threshold !== undefined) await recomputeFullMembers(work);
        if (!wantsLimit({ ...realm, permissions: { ...realm.permissions, ...permissions } })) await endLimit(work);
        return { ...settings, ...permissions };
      });
      if ('can_access_all_users_group' in answer) await limitNow(owner, bus, context);
      return answer;
    }),
  ];
}

/** What cannot begin now, since a service is away, begins when it is back. */
async function limitNow(owner: Owner, bus: Bus, { meta, log }: UserContext): Promise<void> {
  if (!wantsLimit(await readRealm(owner.database, meta.realmId))) return;
  await beginLimit(owner, bus, meta).catch((error: unknown) => log.warn({ err: error }, 'guests not limited yet'));
}

function changedSettings(realm: Realm, params: Params): Values {
  const changed = realmSettingNames.filter(
    (name) => params[name] !== undefined && params[name] !== realm.settings[name],
  );
  return Object.fromEntries(changed.map((name) => [name, params[name]]));
}

async function changedPermissions(work: Work, realm: Realm, params: Params): Promise<Record<string, GroupSetting>> {
  const changed: Record<string, GroupSetting> = {};
  for (const name of permissionNames) {
    const update = params[name];
    if (update === undefined) continue;
    expectOld(update, realm.permissions[name]);
    if (isSameSetting(update.new, realm.permissions[name])) continue;
    changed[name] = await checkedSetting(work, name, realmPermissions[name], update.new);
  }
  return changed;
}

/** Who sends the old value wants to change nothing else. */
export function expectOld(update: GroupSettingUpdate, stored: GroupSetting): void {
  if (update.old !== undefined && !isSameSetting(update.old, stored))
    throw new ChatError('EXPECTATION_MISMATCH', "'old' value does not match the expected value.");
}

async function store(work: Work, { name, description, ...settings }: Values, permissions: Values): Promise<void> {
  if (name === undefined && description === undefined && Object.keys({ ...settings, ...permissions }).length === 0)
    return;
  await work.run(sql.unsafe`
    UPDATE users.realm SET settings = settings || ${JSON.stringify(settings)}::jsonb, permissions = permissions || ${JSON.stringify(permissions)}::jsonb,
      name = coalesce(${(name as string | undefined) ?? null}, name), description = coalesce(${(description as string | undefined) ?? null}, description)
    WHERE id = ${work.realmId}`);
  work.bump('realm');
}

function announceSettings(work: Work, realm: Realm, changed: Values): void {
  const linked: Values = {};
  for (const [name, value] of Object.entries(changed)) {
    if ((realmSettings as Record<string, RealmSetting>)[name]?.isLinked) linked[name] = value;
    else emitUpdate(work, name, value);
  }
  if (Object.keys(linked).length > 0) emitDict(work, linked);
  const after = settingMirrors({ ...realm.settings, ...changed } as Realm['settings']);
  for (const [name, value] of differing(settingMirrors(realm.settings), after)) emitUpdate(work, name, value);
}

function announcePermissions(work: Work, realm: Realm, changed: Record<string, GroupSetting>): void {
  if (Object.keys(changed).length === 0) return;
  const after = { ...realm, permissions: { ...realm.permissions, ...changed } };
  const mirrors = Object.fromEntries(differing(permissionMirrors(realm), permissionMirrors(after)));
  const values = Object.fromEntries(Object.entries(changed).map(([name, value]) => [name, normalized(value)]));
  emitDict(work, { ...values, ...mirrors });
}

const differing = (before: Values, after: Values): [string, unknown][] =>
  Object.entries(after).filter(([name, value]) => before[name] !== value);

export function emitUpdate(work: Work, property: string, value: unknown): void {
  work.emit({ type: 'realm', op: 'update', body: { property, value }, audience: 'realm' });
}

function emitDict(work: Work, data: Values): void {
  work.emit({ type: 'realm', op: 'update_dict', body: { property: 'default', data }, audience: 'realm' });
}

/** Channels are another service's; it is asked before the unit begins. */
async function checkChannels(bus: Bus, meta: RequestMeta, params: Params): Promise<void> {
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
  }
}
