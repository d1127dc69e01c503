import { type Executor, lock, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { Directory } from './directory.ts';

const realmsInMemory = 500;
const emptyStamp = '';

/** Cached directories by realm; each is used only while its stamp equals the one in the tables. */
export class DirectoryCache {
  private readonly kept = new Map<number, Directory>();

  /** The directory in the view of `executor`: the current state, a transaction, or a snapshot. */
  async read(executor: Executor, realmId: number): Promise<Directory> {
    const stamp = await stampOf(executor, realmId);
    const kept = this.kept.get(realmId);
    if (kept?.stamp === stamp) return kept;
    const loaded = await load(executor, realmId, stamp);
    // Outside a transaction the tables may have changed while they were read.
    if ((await stampOf(executor, realmId)) === stamp) this.keep(realmId, loaded);
    return loaded;
  }

  /**
   * Removes the directory from the cache for the transaction that changes it. `keep` puts it back under a new stamp,
   * written in that transaction: if it is rolled back, the stamp never exists and the cached directory is never used.
   */
  async take(work: Work): Promise<Directory> {
    const directory = await this.read(work, work.realmId);
    this.kept.delete(work.realmId);
    return directory;
  }

  keep(realmId: number, directory: Directory): void {
    this.kept.delete(realmId);
    this.kept.set(realmId, directory);
    const oldest = this.kept.keys().next().value;
    if (this.kept.size > realmsInMemory && oldest !== undefined) this.kept.delete(oldest);
  }
}

/**
 * Units that compute an audience from the projection of users hold this lock shared; the consumer that changes the
 * projection holds it exclusively. Otherwise a new user and a new channel whose transactions overlap would miss each
 * other. Taken before any other lock.
 */
export async function holdDirectory(work: Work, mode: 'shared' | 'alone'): Promise<void> {
  await lock(work, 'directory', mode);
}

async function stampOf(executor: Executor, realmId: number): Promise<string> {
  const row = await executor.maybeOne(
    sql.type(z.object({ stamp: z.string() }))`SELECT stamp FROM channels.directory WHERE realm_id = ${realmId}`,
  );
  return row?.stamp ?? emptyStamp;
}

const personTuple = z.tuple([
  z.number(),
  z.string(),
  z.number(),
  z.boolean(),
  z.boolean(),
  z.number().nullable(),
  z.record(z.string(), z.boolean()),
]);
const pairs = z.array(z.tuple([z.number(), z.number()])).nullable();
const directoryRow = z.object({
  people: z.array(personTuple).nullable(),
  groups: z.array(z.tuple([z.number(), z.string(), z.boolean(), z.boolean()])).nullable(),
  members: pairs,
  subgroups: pairs,
});

/** One statement, so that the parts are consistent outside a transaction too. */
async function load(executor: Executor, realmId: number, stamp: string): Promise<Directory> {
  const row = await executor.one(sql.type(directoryRow)`SELECT
    (SELECT json_agg(json_build_array(user_id, email, role, is_active, is_bot, bot_owner_id, notifications) ORDER BY user_id)
      FROM channels.person WHERE realm_id = ${realmId}) AS people,
    (SELECT json_agg(json_build_array(id, name, is_system, is_active) ORDER BY id) FROM channels.user_group WHERE realm_id = ${realmId}) AS groups,
    (SELECT json_agg(json_build_array(group_id, user_id)) FROM channels.group_member WHERE realm_id = ${realmId}) AS members,
    (SELECT json_agg(json_build_array(group_id, subgroup_id)) FROM channels.group_subgroup WHERE realm_id = ${realmId}) AS subgroups`);
  const directory = new Directory(stamp);
  for (const [userId, email, role, isActive, isBot, botOwnerId, notifications] of row.people ?? [])
    directory.setPerson({ userId, email, role, isActive, isBot, botOwnerId, notifications });
  for (const [id, name, isSystem, isActive] of row.groups ?? [])
    directory.groups.set(id, { id, name, isSystem, isActive, members: new Set(), subgroups: new Set() });
  for (const [group, member] of row.members ?? []) directory.groups.get(group)?.members.add(member);
  for (const [group, subgroup] of row.subgroups ?? []) directory.groups.get(group)?.subgroups.add(subgroup);
  return directory;
}
