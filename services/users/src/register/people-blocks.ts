import { randomInt } from 'node:crypto';
import type { ProfileData } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { Block, type JsonPieces, listOf } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type AccountRow, accountColumns, accountRow, roleThatSees, toUser } from '../model/account-row.ts';
import { readProfileData } from '../model/profile-data.ts';

/** The users of a realm in the form of a register. */
export interface People {
  realm_users: JsonPieces;
  realm_non_active_users: JsonPieces;
  cross_realm_bots: JsonPieces;
}

export interface Viewpoint {
  realmId: number;
  host: string;
  own: AccountRow;
  clientGravatar: boolean;
}

type Lists = Record<keyof People, Block | undefined>;

const blockSize = 256;
const keptBytes = 64 * 1024 * 1024;
/** Secret, so that no user can construct content whose version has the same hash as another. */
const seed = randomInt(2 ** 47);

const versionRow = z.object({ from_id: z.number(), to_id: z.number(), version: z.string() });
type Version = z.infer<typeof versionRow>;

/**
 * All users of a realm, in blocks. Most of a register is the same as in the one before: a block is read and serialized
 * again only if one of its rows changed, and otherwise keeps its name, by which gateways find it in their cache.
 * Changed rows are detected in the register's own snapshot: the transaction that wrote a row (`xmin`) is its version
 * until Postgres restarts. Nothing is invalidated, so nothing can be stale.
 */
export function createPeopleBlocks(): (executor: Executor, viewpoint: Viewpoint) => Promise<People> {
  const written = new LRUCache<string, Lists>({
    maxSize: keptBytes,
    sizeCalculation: (lists) => 200 + Object.values(lists).reduce((sum, block) => sum + (block?.bytes.length ?? 0), 0),
  });

  return async (executor, viewpoint) => {
    const versions = await executor.any(sql.type(versionRow)`
      WITH person AS (
        SELECT a.id, (row_number() OVER (ORDER BY a.id) - 1) / ${blockSize} AS block,
          hashint8extended((a.id::int8 << 32) # a.xmin::text::int8, ${seed}::int8) AS version
        FROM users.account a WHERE a.realm_id = ${viewpoint.realmId}),
      said AS (
        SELECT p.block, bit_xor(hashint8extended((v.user_id::int8 << 32) # v.xmin::text::int8, ${seed}::int8 + v.field_id)) AS version
        FROM users.profile_field f JOIN users.profile_value v ON v.field_id = f.id JOIN person p ON p.id = v.user_id
        WHERE f.realm_id = ${viewpoint.realmId} GROUP BY p.block)
      SELECT min(p.id) AS from_id, max(p.id) AS to_id,
        concat_ws(' ', count(*), bit_xor(p.version), min(s.version), extract(epoch FROM pg_postmaster_start_time())) AS version
      FROM person p LEFT JOIN said s USING (block) GROUP BY block ORDER BY block`);
    const { own } = viewpoint;
    const keys = versions.map((version) => keyOf(viewpoint, version));
    const lists = keys.map((key) => (key === undefined ? undefined : written.get(key)));
    const missing = versions.filter((_, index) => lists[index] === undefined);
    if (missing.length > 0) {
      const people = await readPeople(executor, viewpoint, missing);
      for (const [index, version] of versions.entries()) {
        if (lists[index]) continue;
        const within = people.filter(({ row }) => row.id >= version.from_id && row.id <= version.to_id);
        const fresh = write(within, { userId: own.id, role: own.role }, viewpoint.clientGravatar);
        lists[index] = fresh;
        const key = keys[index];
        if (key !== undefined) written.set(key, fresh);
      }
    }
    const all = (name: keyof People): JsonPieces => listOf(lists.flatMap((list) => list?.[name] ?? []));
    return {
      realm_users: all('realm_users'),
      realm_non_active_users: all('realm_non_active_users'),
      cross_realm_bots: all('cross_realm_bots'),
    };
  };
}

/** The cache key of a block: all data that determines its text. Undefined if the text is different for each viewer. */
function keyOf(
  { realmId, host, own, clientGravatar }: Viewpoint,
  { from_id, to_id, version }: Version,
): string | undefined {
  const isOwn = own.id >= from_id && own.id <= to_id;
  if (isOwn && own.role > roleThatSees(own.visibility) && !own.is_bot) return undefined;
  return JSON.stringify([realmId, host, own.role, clientGravatar, from_id, to_id, version]);
}

interface Person {
  row: AccountRow;
  profile: ProfileData;
}

async function readPeople(executor: Executor, { realmId }: Viewpoint, blocks: readonly Version[]): Promise<Person[]> {
  const rows = await executor.any(sql.type(accountRow)`
    SELECT ${accountColumns} FROM users.account
    JOIN ${sql.unnest(
      blocks.map(({ from_id, to_id }) => [from_id, to_id]),
      ['int4', 'int4'],
    )} AS b (from_id, to_id)
      ON account.id BETWEEN b.from_id AND b.to_id
    WHERE account.realm_id = ${realmId} ORDER BY account.id`);
  const profiles = await readProfileData(
    executor,
    realmId,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({ row, profile: profiles.get(row.id) ?? {} }));
}

function write(people: readonly Person[], viewer: { userId: number; role: number }, clientGravatar: boolean): Lists {
  const texts: Record<keyof People, string[]> = { realm_users: [], realm_non_active_users: [], cross_realm_bots: [] };
  for (const { row, profile } of people) {
    const user = toUser(row, viewer, clientGravatar);
    if (row.is_system_bot) texts.cross_realm_bots.push(JSON.stringify(user));
    else
      texts[row.is_active ? 'realm_users' : 'realm_non_active_users'].push(
        JSON.stringify(row.is_bot ? user : { ...user, profile_data: profile }),
      );
  }
  const block = (name: keyof People) => (texts[name].length > 0 ? new Block(texts[name].join(',')) : undefined);
  return {
    realm_users: block('realm_users'),
    realm_non_active_users: block('realm_non_active_users'),
    cross_realm_bots: block('cross_realm_bots'),
  };
}
