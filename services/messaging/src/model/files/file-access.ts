import type { Actor, RealmPolicy, RequestMeta } from '@natter/contracts';
import { type Database, type Executor, sql } from '@natter/database';
import type { Context } from '@natter/service-kit';
import { z } from 'zod';
import type { MessageAccess } from '../message-access.ts';
import { accessible, readableBy } from '../reading/readable.ts';

const fileRow = z.object({
  id: z.number(),
  owner_id: z.number(),
  name: z.string(),
  path_id: z.string(),
  file_key: z.string(),
  content_type: z.string(),
  size: z.number(),
  secret: z.string(),
});
export type FileRow = z.infer<typeof fileRow>;
const fileColumns = sql.fragment`a.id, a.owner_id, a.name, a.path_id, a.file_key, a.content_type, a.size, a.secret`;
const idRow = z.object({ id: z.number() });

export async function findFile(
  executor: Executor,
  realmId: number,
  condition: ReturnType<typeof sql.fragment>,
): Promise<FileRow | undefined> {
  return executor.maybeOne(sql.type(fileRow)`
    SELECT ${fileColumns} FROM messaging.attachment a WHERE a.realm_id = ${realmId} AND ${condition}`);
}

/** Among these attachments, those that the reader may see: their own, and those in a message that they may read. */
export async function visibleOf(
  executor: Executor,
  actor: Actor | undefined,
  meta: RequestMeta,
  files: readonly Pick<FileRow, 'id' | 'owner_id'>[],
): Promise<Set<number>> {
  const own = files.filter((file) => file.owner_id === actor?.userId).map((file) => file.id);
  const others = files.filter((file) => file.owner_id !== actor?.userId).map((file) => file.id);
  if (others.length === 0) return new Set(own);
  const readable = await readableBy(executor, meta, actor);
  const rows = await executor.any(sql.type(idRow)`
    SELECT DISTINCT am.attachment_id AS id FROM messaging.attachment_message am
    JOIN messaging.message m ON m.realm_id = am.realm_id AND m.id = am.message_id
    WHERE am.realm_id = ${meta.realmId} AND am.attachment_id = ANY(${sql.array(others, 'int4')}) AND ${accessible(readable, actor)}`);
  return new Set([...own, ...rows.map((row) => row.id)]);
}

/** Maximum number of messages checked individually, for readers whose access depends on a group permission. */
const lookedAt = 20;

/** Whether this reader may get a file; `actor` undefined: without authentication. */
export async function mayGet(
  database: Database,
  { messages, policy }: { messages: MessageAccess; policy: RealmPolicy },
  { actor, meta }: Pick<Context, 'actor' | 'meta'>,
  file: FileRow,
): Promise<boolean> {
  if (!actor && !policy.settings.enable_spectator_access) return false;
  if ((await visibleOf(database, actor, meta, [file])).has(file.id)) return true;
  if (!actor) return false;
  const rows = await database.any(sql.type(idRow)`
    SELECT message_id AS id FROM messaging.attachment_message
    WHERE realm_id = ${meta.realmId} AND attachment_id = ${file.id} ORDER BY message_id DESC LIMIT ${lookedAt}`);
  for (const { id } of rows) {
    const isReadable = await messages.readable(database, actor, meta, id).then(
      () => true,
      () => false,
    );
    if (isReadable) return true;
  }
  return false;
}
