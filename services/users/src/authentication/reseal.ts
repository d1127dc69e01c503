import { sql } from '@natter/database';
import { type Logger, type Owner, repeat } from '@natter/service-kit';
import { z } from 'zod';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { storedKey } from '../model/invitation-key.ts';

const everyMs = 10 * 60_000;
const batch = 500;
const keyRow = z.object({ id: z.number(), key: z.string(), is_link: z.boolean() });
const sealedRow = z.object({ id: z.number(), sealed_key: z.string() });

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
    const bots = await database.any(sql.type(sealedRow)`SELECT user_id AS id, sealed_key FROM users.bot`);
    for (const { id, sealed_key, renewed } of renewable(bots, seal))
      count += await database.run(
        sql.unsafe`UPDATE users.bot SET sealed_key = ${renewed} WHERE user_id = ${id} AND sealed_key = ${sealed_key}`,
      );
    const links = await database.any(
      sql.type(sealedRow)`SELECT id, sealed_key FROM users.invitation WHERE sealed_key IS NOT NULL`,
    );
    for (const { id, sealed_key, renewed } of renewable(links, seal))
      count += await database.run(
        sql.unsafe`UPDATE users.invitation SET sealed_key = ${renewed} WHERE id = ${id} AND sealed_key = ${sealed_key}`,
      );
    const jwtKeys = await database.any(sql.type(sealedRow)`SELECT realm_id AS id, sealed_key FROM users.jwt_key`);
    for (const { id, sealed_key, renewed } of renewable(jwtKeys, seal))
      count += await database.run(
        sql.unsafe`UPDATE users.jwt_key SET sealed_key = ${renewed} WHERE realm_id = ${id} AND sealed_key = ${sealed_key}`,
      );
    const mails = await database.any(
      sql.type(sealedRow)`SELECT id::float8 AS id, sealed AS sealed_key FROM users.mail`,
    );
    for (const { id, sealed_key, renewed } of renewable(mails, seal))
      count += await database.run(
        sql.unsafe`UPDATE users.mail SET sealed = ${renewed} WHERE id = ${id}::bigint AND sealed = ${sealed_key}`,
      );
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

const renewable = (rows: readonly z.infer<typeof sealedRow>[], seal: KeySeal) =>
  rows.flatMap((row) => {
    const renewed = seal.renew(row.sealed_key);
    return renewed === undefined ? [] : [{ ...row, renewed }];
  });
