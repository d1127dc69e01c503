import { idsOf, keysOf, type LogEvent, type NewcomerNote } from '@natter/contracts';
import { appliedNumber, type Handled, sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { type Directory, type NotificationSetting, notificationSettings, type Person } from './directory/directory.ts';
import { type DirectoryCache, holdDirectory } from './directory/read-directory.ts';
import { isCrowded } from './event-room.ts';
import { createFirstChannels } from './first-channels.ts';
import { applyGroupEvent, type GroupEvent } from './group-events.ts';
import { subscribeNewcomer } from './newcomer.ts';
import { enterLists, leaveLists } from './peer-lists.ts';
import { announcePermissionsNaming } from './permission-changes.ts';
import { type Added, announceChangeOfGroups, announceChangeOfPerson } from './visibility.ts';

/**
 * Maintains the projection of users and groups, and emits the consequences of a change in the same transaction:
 * channels that users can see now or no longer, changes of subscriber lists, and a new user's first channels.
 */
export function peopleConsumer(owner: Owner, directories: DirectoryCache): void {
  const taken = new WeakMap<Work, Taken>();
  /**
   * Names, avatars and most settings are irrelevant here: no request waits for them, and cached directories stay valid.
   */
  const follow =
    <E>(apply: Apply<E>, isRelevant: (event: E) => boolean = () => true) =>
    async (work: Work, event: E, number: number): Promise<Handled> => {
      if (!isRelevant(event)) return;
      if (isCrowded(work)) return 'unfinished';
      let mine = taken.get(work);
      if (!mine) {
        await holdDirectory(work, 'alone');
        mine = { directory: await directories.take(work), wasInactive: new Map(), prompt: new Set(), late: new Set() };
        taken.set(work, mine);
      }
      await apply(work, mine, event, number);
      mine.directory.stamp = `${number}.${Math.random().toString(36).slice(2)}`;
    };
  const group = follow(applyGroup);
  owner.consume({
    name: 'people',
    // Every change of channels waits while the projection is locked exclusively.
    batchSize: 25,
    on: {
      'realm_user/add': follow(personAdded),
      'realm_user/update': follow(personChanged, ({ body }) => keptOfPerson.some((name) => name in body.person)),
      'user_group/add': group,
      'user_group/update': group,
      'user_group/remove': group,
      'user_group/add_members': group,
      'user_group/remove_members': group,
      'user_group/add_subgroups': group,
      'user_group/remove_subgroups': group,
      'user_settings/update': follow(settingChanged, isKept),
      'realm_user_settings_defaults/update': follow(defaultChanged, isKept),
    },
    finish: async (work) => {
      const mine = taken.get(work);
      if (!mine) return;
      const { directory, wasInactive } = mine;
      if (wasInactive.size > 0) await announcePermissionsNaming(work, directory, wasInactive);
      await work.run(sql.unsafe`
        INSERT INTO channels.directory (realm_id, stamp) VALUES (${work.realmId}, ${directory.stamp})
        ON CONFLICT (realm_id) DO UPDATE SET stamp = excluded.stamp`);
      directories.keep(work.realmId, directory);
    },
  });
}

interface Taken extends Added {
  directory: Directory;
  /** Users whom the transaction deactivates or reactivates, by id. The value says whether the user was inactive before it. */
  wasInactive: Map<number, boolean>;
}

type Apply<E> = (work: Work, taken: Taken, event: E, number: number) => Promise<void>;
type SettingEvent = LogEvent<'user_settings/update' | 'realm_user_settings_defaults/update'>;

const isKept = ({ body }: SettingEvent): boolean => settingNames.has(body.property);
const keptOfPerson = ['email', 'new_email', 'role', 'is_active', 'bot_owner_id'];

const personChanged: Apply<LogEvent<'realm_user/update'>> = async (work, { directory, wasInactive }, { body }) => {
  const { person: changes } = body;
  const before = directory.people.get(changes.user_id);
  if (!before) return;
  const after: Person = {
    ...before,
    email: changes.new_email ?? changes.email ?? before.email,
    role: changes.role ?? before.role,
    isActive: changes.is_active ?? before.isActive,
    botOwnerId: changes.bot_owner_id ?? before.botOwnerId,
  };
  if (!isChanged(before, after)) return;
  if (after.isActive !== before.isActive) {
    // A channel may have appeared to somebody between the two changes.
    if (wasInactive.has(after.userId)) await announcePermissionsNaming(work, directory, wasInactive);
    wasInactive.set(after.userId, !before.isActive);
  }
  await storePerson(work, after);
  const known = directory.holder(after.userId);
  directory.setPerson(after);
  if (after.role !== before.role && known) await announceChangeOfPerson(work, directory, known);
  if (after.isActive && !before.isActive) await enterLists(work, directory, after.userId);
  if (before.isActive && !after.isActive) await leaveLists(work, directory, after.userId);
};

/** `reapplied`: the event was parked before. `late`: a register may have given up waiting for it. */
type Timing = 'prompt' | 'late' | 'reapplied';
const timingRow = z.object({ is_reapplied: z.boolean(), is_late: z.boolean() });
/** A register waits longer than this for the addition of its user. */
const lateMs = 2_000;
const defaultsRow = z.object({ notifications: z.record(z.string(), z.boolean()) });

const isChanged = (before: Person, after: Person): boolean => keysOf(after).some((key) => before[key] !== after[key]);

const personAdded: Apply<LogEvent<'realm_user/add'>> = async (work, taken, event, number) => {
  const { directory } = taken;
  const { person: user } = event.body;
  const { note } = event;
  if (directory.people.has(user.user_id)) return;
  const defaults = await work.maybeOne(
    sql.type(defaultsRow)`SELECT notifications FROM channels.directory WHERE realm_id = ${work.realmId}`,
  );
  const person: Person = {
    userId: user.user_id,
    email: user.email,
    role: user.role,
    isActive: user.is_active,
    isBot: user.is_bot,
    botOwnerId: user.bot_owner_id ?? null,
    notifications: { ...defaults?.notifications, ...notedSettings(note?.settings) },
  };
  await storePerson(work, person);
  directory.setPerson(person);
  const timing = await timingOf(work, number);
  if (timing !== 'reapplied') taken[timing].add(person.userId);
  if (timing !== 'prompt') {
    const former = { userId: person.userId, role: undefined, groupIds: [] };
    await announceChangeOfPerson(work, directory, former, { withSubscribers: timing === 'reapplied' });
  }
  await createFirstChannels(work, directory, person, note?.first_channels ?? []);
  await subscribeNewcomer(work, directory, person, note ?? {});
};

async function timingOf(work: Work, number: number): Promise<Timing> {
  const row = await work.one(sql.type(timingRow)`
    SELECT ${appliedNumber('channels', work.realmId, 'people')} >= ${number} AS is_reapplied,
      coalesce(extract(epoch FROM clock_timestamp()) * 1000
        - log.waiting_since(${work.realmId}, ${number - 1}, ${number}, ARRAY['realm_user']), 0) > ${lateMs} AS is_late`);
  if (row.is_reapplied) return 'reapplied';
  return row.is_late ? 'late' : 'prompt';
}

/** A trigger notes the first owner of a bot as `created_by`, which never changes. */
async function storePerson(work: Work, person: Person): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO channels.person (realm_id, user_id, email, role, is_active, is_bot, bot_owner_id, notifications)
    VALUES (${work.realmId}, ${person.userId}, ${person.email}, ${person.role}, ${person.isActive}, ${person.isBot},
      ${person.botOwnerId}, ${JSON.stringify(person.notifications)}::jsonb)
    ON CONFLICT (realm_id, user_id) DO UPDATE SET email = excluded.email, role = excluded.role,
      is_active = excluded.is_active, bot_owner_id = excluded.bot_owner_id, notifications = excluded.notifications`);
}

async function applyGroup(work: Work, taken: Taken, event: GroupEvent): Promise<void> {
  const change = await applyGroupEvent(work, taken.directory, event);
  if (change) await announceChangeOfGroups(work, taken.directory, change, taken);
}

/** Names of the settings in users that are the defaults of a channel's own settings. */
const settingNames = new Map<string, NotificationSetting>(
  notificationSettings.map((name) => [name === 'wildcard_mentions_notify' ? name : `enable_stream_${name}`, name]),
);

/** The realm's defaults at the time when the user was created, if the event contains them. */
function notedSettings(settings: NewcomerNote['settings'] = {}): Person['notifications'] {
  const given = Object.entries(settings).map(([name, value]) => [settingNames.get(name), value] as const);
  return Object.fromEntries(given.filter(([name, value]) => name !== undefined && typeof value === 'boolean'));
}

const defaultChanged: Apply<LogEvent<'realm_user_settings_defaults/update'>> = async (work, { directory }, event) => {
  const { property, value } = event.body;
  const setting = settingNames.get(property);
  if (!setting || typeof value !== 'boolean') return;
  const added = JSON.stringify({ [setting]: value });
  await work.run(sql.unsafe`
    INSERT INTO channels.directory AS d (realm_id, stamp, notifications) VALUES (${work.realmId}, ${directory.stamp}, ${added}::jsonb)
    ON CONFLICT (realm_id) DO UPDATE SET notifications = d.notifications || excluded.notifications`);
};

const settingChanged: Apply<LogEvent<'user_settings/update'>> = async (work, { directory }, event) => {
  const { property, value } = event.body;
  const setting = settingNames.get(property);
  if (!setting || typeof value !== 'boolean') return;
  for (const userId of idsOf(event.audience.users)) {
    const person = directory.people.get(userId);
    if (!person) continue;
    const after = { ...person, notifications: { ...person.notifications, [setting]: value } };
    await storePerson(work, after);
    directory.setPerson(after);
  }
};
