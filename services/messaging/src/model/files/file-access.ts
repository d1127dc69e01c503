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

type Owned = Pick<FileRow, 'id' | 'owner_id'>;

/** The reader's own files, and those in a message that they may read without a permission of its channel. */
async function visibleOf(
  executor: Executor,
  actor: Actor | undefined,
  meta: RequestMeta,
  files: readonly Owned[],
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

const referenceRow = z.object({ file_id: z.number(), message_id: z.number() });

/** Without authentication, `actor` is undefined. */
export interface Reader {
  actor: Actor | undefined;
  meta: RequestMeta;
}

/** The files among these that the reader may get. */
export async function gettable(
  executor: Executor,
  messages: MessageAccess,
  { actor, meta }: Reader,
  files: readonly Owned[],
): Promise<Set<number>> {
  const found = await visibleOf(executor, actor, meta, files);
  const others = files.filter(({ id }) => !found.has(id)).map(({ id }) => id);
  if (!actor || others.length === 0) return found;
  // The newest message of each file, then the next of each: many messages with one file leave out no other file.
  const references = await executor.any(sql.type(referenceRow)`
    SELECT f.id AS file_id, newest.message_id FROM unnest(${sql.array(others, 'int4')}) AS f (id), LATERAL (
      SELECT am.message_id, row_number() OVER (ORDER BY am.message_id DESC) AS place FROM (
        SELECT message_id FROM messaging.attachment_message
        WHERE realm_id = ${meta.realmId} AND attachment_id = f.id ORDER BY message_id DESC LIMIT ${lookedAt}) am) newest
    ORDER BY newest.place, newest.message_id DESC`);
  const isReadable = new Map<number, boolean>();
  for (const { file_id, message_id } of references) {
    if (found.has(file_id)) continue;
    if (!isReadable.has(message_id)) {
      if (isReadable.size === lookedAt) continue;
      isReadable.set(message_id, await mayRead(executor, messages, { actor, meta }, message_id));
    }
    if (isReadable.get(message_id)) found.add(file_id);
  }
  return found;
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

/** Whether this reader may get a file; `actor` undefined: without authentication. */
export async function mayGet(
  database: Database,
  { messages, policy }: { messages: MessageAccess; policy: RealmPolicy },
  { actor, meta }: Pick<Context, 'actor' | 'meta'>,
  file: FileRow,
): Promise<boolean> {
  if (!actor && !policy.settings.enable_spectator_access) return false;
  return (await gettable(database, messages, { actor, meta }, [file])).has(file.id);
}
