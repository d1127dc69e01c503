import { type Actor, isRefusal, type RealmPolicy, type RequestMeta } from '@natter/contracts';
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

/** Maximum number of messages checked individually, for readers whose access depends on a group permission. */
export const lookedAt = 20;

/** Whether a reader may get a file: their own, or one in a message that they may read. `actor` undefined: without authentication. */
export async function mayGet(
  database: Database,
  { messages, policy }: { messages: MessageAccess; policy: RealmPolicy },
  { actor, meta }: Pick<Context, 'actor' | 'meta'>,
  file: Pick<FileRow, 'id' | 'owner_id'>,
): Promise<boolean> {
  if (!actor && !policy.settings.enable_spectator_access) return false;
  if (file.owner_id === actor?.userId || (await isVisible(database, actor, meta, file.id))) return true;
  if (!actor) return false;
  const newest = await database.any(sql.type(idRow)`
    SELECT message_id AS id FROM messaging.attachment_message
    WHERE realm_id = ${meta.realmId} AND attachment_id = ${file.id} ORDER BY message_id DESC LIMIT ${lookedAt}`);
  for (const { id } of newest) if (await mayRead(database, messages, { actor, meta }, id)) return true;
  return false;
}

/** Whether the file is in a message that the reader may read without a permission of its channel. */
async function isVisible(
  executor: Executor,
  actor: Actor | undefined,
  meta: RequestMeta,
  fileId: number,
): Promise<boolean> {
  const readable = await readableBy(executor, meta, actor);
  const found = await executor.maybeOne(sql.type(idRow)`
    SELECT m.id FROM messaging.attachment_message am
    JOIN messaging.message m ON m.realm_id = am.realm_id AND m.id = am.message_id
    WHERE am.realm_id = ${meta.realmId} AND am.attachment_id = ${fileId} AND ${accessible(readable, actor)} LIMIT 1`);
  return found !== undefined;
}

async function mayRead(
  executor: Executor,
  messages: MessageAccess,
  { actor, meta }: { actor: Actor; meta: RequestMeta },
  messageId: number,
): Promise<boolean> {
  try {
    await messages.readable(executor, actor, meta, messageId);
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}
