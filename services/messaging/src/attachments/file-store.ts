import { badRequest, fileChunkBytes, fileOperations } from '@natter/contracts';
import { type Database, type Executor, inBatches, sql, type Work } from '@natter/database';
import { type Handlers, handle, repeat } from '@natter/service-kit';
import { z } from 'zod';

/**
 * Stores uploaded files in chunks in the schema of this service (ADR 7), so that any process serves any file, and a file
 * is kept or removed in the transaction that decides it. Chunks are put under a random key. They become a file when
 * they are kept. Otherwise the gateway deletes them when the request has ended, or they are deleted after an hour.
 */
export interface FileStore {
  /** Turns uploaded chunks into a file; refuses an incomplete one. */
  keep(work: Work, key: string, size: number): Promise<void>;
  /** Begins a file that arrives in order. It is not deleted after an hour: its owner keeps or removes it. */
  begin(work: Work, key: string): Promise<void>;
  /** Adds bytes at the end of a file, which has `offset` bytes. */
  append(work: Work, key: string, offset: number, bytes: Buffer): Promise<void>;
  remove(work: Work, key: string): Promise<void>;
  /** Bytes of the chunks in a realm that are not kept, or not yet. */
  unkeptBytes(executor: Executor, realmId: number): Promise<number>;
  /** Deletes what was never kept, file by file. */
  sweep(isStopped: () => boolean): Promise<void>;
  /** Handlers with which the gateway writes and reads chunks. */
  handlers: Handlers;
  stop(): Promise<void>;
}

const sizeRow = z.object({ size: z.number() });
const countRow = z.object({ count: z.number() });
const bytesRow = z.object({ bytes: z.instanceof(Buffer) });
const sweepEveryMs = 600_000;

export function createFileStore(
  database: Database,
  {
    onError,
    requireRoom,
  }: {
    onError: (error: unknown) => void;
    /** Throws if a realm has no room for a file of this size. It saves storing the file in vain; the upload checks again. */
    requireRoom: (realmId: number, size: number) => Promise<void>;
  },
): FileStore {
  const operations = fileOperations.messaging;
  // Deletes one file per statement, because deleting the chunks of a large file may take seconds.
  const sweep = (isStopped: () => boolean): Promise<void> =>
    inBatches(1, isStopped, async () => {
      const { count } = await database.one(sql.type(countRow)`
        WITH gone AS (
            DELETE FROM messaging.file WHERE (realm_id, key) = (
              SELECT realm_id, key FROM messaging.file WHERE NOT is_kept AND stored_at < now() - interval '1 hour'
              ORDER BY stored_at LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING realm_id, key),
          chunks AS (DELETE FROM messaging.file_chunk c USING gone WHERE c.realm_id = gone.realm_id AND c.key = gone.key)
        SELECT count(*)::int AS count FROM gone`);
      return count;
    });

  return {
    sweep,

    async keep(work, key, size) {
      await work.run(
        sql.unsafe`UPDATE messaging.file SET is_kept = true WHERE realm_id = ${work.realmId} AND key = ${key}`,
      );
      const held = await work.one(sql.type(sizeRow)`
        SELECT coalesce(sum(octet_length(bytes)), 0)::float8 AS size FROM messaging.file_chunk WHERE realm_id = ${work.realmId} AND key = ${key}`);
      if (held.size !== size) throw badRequest('The file did not arrive whole. Try again.');
    },

    async begin(work, key) {
      await work.run(
        sql.unsafe`INSERT INTO messaging.file (realm_id, key, is_kept) VALUES (${work.realmId}, ${key}, true)`,
      );
    },

    async append(work, key, offset, bytes) {
      for (let at = 0; at < bytes.length; ) {
        const ordinal = Math.floor((offset + at) / fileChunkBytes);
        const part = bytes.subarray(at, (ordinal + 1) * fileChunkBytes - offset);
        await work.run(sql.unsafe`
          INSERT INTO messaging.file_chunk AS c (realm_id, key, ordinal, bytes) VALUES (${work.realmId}, ${key}, ${ordinal}, ${sql.binary(part)})
          ON CONFLICT (realm_id, key, ordinal) DO UPDATE SET bytes = c.bytes || excluded.bytes`);
        at += part.length;
      }
    },

    async remove(work, key) {
      await work.run(sql.unsafe`DELETE FROM messaging.file WHERE realm_id = ${work.realmId} AND key = ${key}`);
      await work.run(sql.unsafe`DELETE FROM messaging.file_chunk WHERE realm_id = ${work.realmId} AND key = ${key}`);
    },

    async unkeptBytes(executor, realmId) {
      const { size } = await executor.one(sql.type(sizeRow)`
        SELECT coalesce(sum(octet_length(c.bytes)), 0)::float8 AS size
        FROM messaging.file f JOIN messaging.file_chunk c ON c.realm_id = f.realm_id AND c.key = f.key
        WHERE f.realm_id = ${realmId} AND NOT f.is_kept`);
      return size;
    },

    handlers: [
      handle(operations.put, async ({ meta }, { file_key, ordinal, bytes, size }) => {
        if (size !== undefined) await requireRoom(meta.realmId, size);
        const given = Buffer.from(bytes, 'base64');
        await database.run(sql.unsafe`
          WITH begun AS (INSERT INTO messaging.file (realm_id, key) VALUES (${meta.realmId}, ${file_key}) ON CONFLICT DO NOTHING)
          INSERT INTO messaging.file_chunk (realm_id, key, ordinal, bytes) VALUES (${meta.realmId}, ${file_key}, ${ordinal}, ${sql.binary(given)})
          ON CONFLICT DO NOTHING`);
        return {};
      }),
      handle(operations.discard, async ({ meta }, { file_key }) => {
        await database.run(sql.unsafe`
          WITH gone AS (DELETE FROM messaging.file WHERE realm_id = ${meta.realmId} AND key = ${file_key} AND NOT is_kept RETURNING realm_id, key)
          DELETE FROM messaging.file_chunk c USING gone WHERE c.realm_id = gone.realm_id AND c.key = gone.key`);
        return {};
      }),
      handle(operations.read, async ({ meta }, { file_key, ordinal }) => {
        const row = await database.maybeOne(sql.type(bytesRow)`
          SELECT bytes FROM messaging.file_chunk WHERE realm_id = ${meta.realmId} AND key = ${file_key} AND ordinal = ${ordinal}`);
        return { bytes: row?.bytes.toString('base64') ?? '' };
      }),
    ],

    stop: repeat({ everyMs: sweepEveryMs, onError }, sweep),
  };
}
