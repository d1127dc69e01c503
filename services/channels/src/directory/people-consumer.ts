import { idsOf, type LogEvent, type User } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { subscribeNewcomer } from '../subscription/newcomer.ts';
import { enterLists, leaveLists } from '../subscription/peer-lists.ts';
import { followedTypes } from './behind.ts';
import { type Directory, type NotificationSetting, notificationSettings, type Person } from './directory.ts';
import { applyGroupEvent } from './group-events.ts';
import { type DirectoryCache, holdDirectory } from './read-directory.ts';
import { tellChangeOfGroups, tellChangeOfPerson } from './visibility.ts';

/**
 * Keeps the copy of people and groups, and tells in the same transaction what follows from a change: which channels
 * somebody may know now or no more, who left or entered the lists of subscribers, and a newcomer's first channels.
 */
export function peopleConsumer(owner: Owner, directories: DirectoryCache): void {
  const taken = new WeakMap<Work, Directory>();
  owner.consume({
    name: 'people',
    types: followedTypes,
    // Every change of channels waits while the copy is held alone.
    batchSize: 25,
    handle: async (work, { event, number }) => {
      if (!isRelevant(event)) return;
      let directory = taken.get(work);
      if (!directory) {
        await holdDirectory(work, 'alone');
        directory = await directories.take(work);
        taken.set(work, directory);
      }
      if (event.type === 'realm_user') await applyPerson(work, directory, event);
      else if (event.type === 'user_group') await applyGroup(work, directory, event);
      else await applySettings(work, directory, event);
      directory.stamp = `${number}.${Math.random().toString(36).slice(2)}`;
    },
    finish: async (work) => {
      const directory = taken.get(work);
      if (!directory) return;
      await work.run(sql.unsafe`
        INSERT INTO channels.directory (realm_id, stamp) VALUES (${work.realmId}, ${directory.stamp})
        ON CONFLICT (realm_id) DO UPDATE SET stamp = excluded.stamp`);
      directories.keep(work.realmId, directory);
    },
  });
}

/** Names and pictures, and most settings, change nothing here: nobody waits for them, and no copy in memory ends. */
function isRelevant({ type, op, body }: LogEvent): boolean {
  if (type === 'user_settings' || type === 'realm_user_settings_defaults')
    return settingNames.has(String(body.property));
  if (type !== 'realm_user' || op === 'add') return true;
  return op === 'update' && keptOfPerson.some((name) => name in (body.person as object));
}

const keptOfPerson = ['email', 'new_email', 'role', 'is_active', 'bot_owner_id'];

async function applyPerson(work: Work, directory: Directory, event: LogEvent): Promise<void> {
  const changes = event.body.person as Partial<User> & { user_id: number; new_email?: string };
  const before = directory.people.get(changes.user_id);
  if (event.op === 'add' && !before) return addPerson(work, directory, changes, event.note ?? {});
  // Of somebody becoming known to, or hidden from, a limited guest nothing follows here.
  if (event.op !== 'update' || !before) return;
  const after: Person = {
    ...before,
    email: changes.new_email ?? changes.email ?? before.email,
    role: changes.role ?? before.role,
    isActive: changes.is_active ?? before.isActive,
    botOwnerId: changes.bot_owner_id ?? before.botOwnerId,
  };
  if (!isChanged(before, after)) return;
  await storePerson(work, after);
  const known = directory.holder(after.userId);
  directory.setPerson(after);
  if (after.role !== before.role && known) await tellChangeOfPerson(work, directory, known);
  if (after.isActive && !before.isActive) await enterLists(work, directory, after.userId);
  if (before.isActive && !after.isActive) await leaveLists(work, directory, after.userId);
}

const defaultsRow = z.object({ notifications: z.record(z.string(), z.boolean()) });

const isChanged = (before: Person, after: Person): boolean =>
  (Object.keys(after) as (keyof Person)[]).some((key) => before[key] !== after[key]);

async function addPerson(
  work: Work,
  directory: Directory,
  user: Partial<User> & { user_id: number },
  note: Record<string, unknown>,
): Promise<void> {
  const defaults = await work.maybeOne(
    sql.type(defaultsRow)`SELECT notifications FROM channels.directory WHERE realm_id = ${work.realmId}`,
  );
  const person: Person = {
    userId: user.user_id,
    email: user.email ?? '',
    role: user.role ?? 400,
    isActive: user.is_active ?? true,
    isBot: user.is_bot ?? false,
    botOwnerId: user.bot_owner_id ?? null,
    notifications: { ...defaults?.notifications, ...notedSettings(note) },
  };
  await storePerson(work, person);
  directory.setPerson(person);
  await tellChangeOfPerson(work, directory, { userId: person.userId, role: undefined, groupIds: [] });
  await subscribeNewcomer(work, directory, person, note);
}

async function storePerson(work: Work, person: Person): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO channels.person (realm_id, user_id, email, role, is_active, is_bot, bot_owner_id, notifications)
    VALUES (${work.realmId}, ${person.userId}, ${person.email}, ${person.role}, ${person.isActive}, ${person.isBot},
      ${person.botOwnerId}, ${JSON.stringify(person.notifications)}::jsonb)
    ON CONFLICT (realm_id, user_id) DO UPDATE SET email = excluded.email, role = excluded.role,
      is_active = excluded.is_active, bot_owner_id = excluded.bot_owner_id, notifications = excluded.notifications`);
}

async function applyGroup(work: Work, directory: Directory, event: LogEvent): Promise<void> {
  const change = await applyGroupEvent(work, directory, event);
  if (change) await tellChangeOfGroups(work, directory, change);
}

/** The names under which the users service keeps what a channel's own setting falls back to. */
const settingNames = new Map<string, NotificationSetting>(
  notificationSettings.map((name) => [name === 'wildcard_mentions_notify' ? name : `enable_stream_${name}`, name]),
);

/** What the realm's defaults gave a new user, where that is said. */
function notedSettings({ settings }: Record<string, unknown>): Person['notifications'] {
  if (typeof settings !== 'object' || settings === null) return {};
  const given = Object.entries(settings).map(([name, value]) => [settingNames.get(name), value] as const);
  return Object.fromEntries(given.filter(([name, value]) => name !== undefined && typeof value === 'boolean'));
}

async function applySettings(work: Work, directory: Directory, event: LogEvent): Promise<void> {
  const setting = settingNames.get(String(event.body.property));
  const { value } = event.body;
  if (!setting || typeof value !== 'boolean') return;
  if (event.type === 'realm_user_settings_defaults') {
    const added = JSON.stringify({ [setting]: value });
    await work.run(sql.unsafe`
      INSERT INTO channels.directory AS d (realm_id, stamp, notifications) VALUES (${work.realmId}, ${directory.stamp}, ${added}::jsonb)
      ON CONFLICT (realm_id) DO UPDATE SET notifications = d.notifications || excluded.notifications`);
    return;
  }
  if (event.audience === 'realm') return;
  for (const userId of idsOf(event.audience.users)) {
    const person = directory.people.get(userId);
    if (!person) continue;
    const after = { ...person, notifications: { ...person.notifications, [setting]: value } };
    await storePerson(work, after);
    directory.setPerson(after);
  }
}
