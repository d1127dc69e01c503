import { sql } from '@natter/database';
import { type Logger, type Owner, repeat } from '@natter/service-kit';
import { z } from 'zod';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { storedKey } from '../model/invitation-key.ts';

const everyMs = 10 * 60_000;
const batch = 500;
const keyRow = z.object({ id: z.number(), key: z.string(), is_link: z.boolean() });
const sealedRow = z.object({ id: z.number(), sealed: z.string() });

/** The columns with sealed values, each with the key of its table. */
const sealedValues = [
  { table: 'bot', id: 'user_id', value: 'sealed_key' },
  { table: 'invitation', id: 'id', value: 'sealed_key' },
  { table: 'jwt_key', id: 'realm_id', value: 'sealed_key' },
  { table: 'mail', id: 'id', value: 'sealed' },
].map(({ table, id, value }) => ({
  table: sql.identifier(['users', table]),
  id: sql.identifier([id]),
  value: sql.identifier([value]),
}));

/**
 * Converts stored secrets to the form of this release: hashes invitation keys that an earlier release stored in plain
 * text, and reseals values sealed with the previous secret. Runs at the start, and repeatedly, because earlier
 * processes may still run side by side.
 */
export function startReseal({ database }: Pick<Owner, 'database'>, seal: KeySeal, log: Logger): () => Promise<void> {
  const hashPlainKeys = async (): Promise<number> => {
    for (let count = 0; ; ) {
      const rows = await database.any(sql.type(keyRow)`
        SELECT id, key, email IS NULL AS is_link FROM users.invitation WHERE key NOT LIKE 'sha256:%' ORDER BY id LIMIT ${batch}`);
      for (const { id, key, is_link } of rows)
        await database.run(sql.unsafe`
          UPDATE users.invitation SET key = ${storedKey(key)}, sealed_key = ${is_link ? seal.seal(key) : null} WHERE id = ${id} AND key = ${key}`);
      count += rows.length;
      if (rows.length < batch) return count;
    }
  };
  const sealAnew = async (): Promise<number> => {
    let count = 0;
    for (const { table, id, value } of sealedValues) {
      const rows = await database.any(sql.type(sealedRow)`
        SELECT ${id} AS id, ${value} AS sealed FROM ${table} WHERE ${value} IS NOT NULL`);
      for (const row of rows) {
        const renewed = seal.renew(row.sealed);
        if (renewed === undefined) continue;
        count += await database.run(
          sql.unsafe`UPDATE ${table} SET ${value} = ${renewed} WHERE ${id} = ${row.id} AND ${value} = ${row.sealed}`,
        );
      }
    }
    return count;
  };
  const look = async (): Promise<void> => {
    const hashed = await hashPlainKeys();
    if (hashed > 0) log.info({ count: hashed }, 'keys of invitations hashed');
    if (!seal.hasPrevious) return;
    const sealed = await sealAnew();
    log.info(
      { count: sealed },
      'keys sealed anew; when this is 0, no stored key needs NATTER_BOT_KEY_SECRET_PREVIOUS any more',
    );
  };
  const onError = (error: unknown): void => log.warn({ err: error }, 'converting stored keys failed');
  return repeat({ everyMs, firstMs: 0, onError }, look);
}
