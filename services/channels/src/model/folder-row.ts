import { badRequest } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';

const folderRow = z.object({
  id: z.number(),
  name: z.string(),
  description: z.string(),
  rendered_description: z.string(),
  creator_id: z.number().nullable(),
  position: z.number(),
  is_archived: z.boolean(),
  created_at: z.date(),
});
export type FolderRow = z.infer<typeof folderRow>;

export const foldersOf = (executor: Executor, realmId: number, withArchived: boolean): Promise<FolderRow[]> =>
  executor.any(sql.type(folderRow)`
    SELECT id, name, description, rendered_description, creator_id, position, is_archived, created_at FROM channels.folder
    WHERE realm_id = ${realmId} AND (${withArchived} OR NOT is_archived) ORDER BY position, id`);

export async function lockedFolder(work: Work, id: number): Promise<FolderRow> {
  const folder = await work.maybeOne(sql.type(folderRow)`
    SELECT id, name, description, rendered_description, creator_id, position, is_archived, created_at FROM channels.folder
    WHERE realm_id = ${work.realmId} AND id = ${id} FOR UPDATE`);
  if (!folder) throw badRequest('Invalid channel folder ID');
  return folder;
}

/** A folder that channels can be moved to. It can't be archived before the unit of work ends. */
export async function activeFolder(work: Work, id: number): Promise<{ id: number }> {
  const folder = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM channels.folder WHERE realm_id = ${work.realmId} AND id = ${id} AND NOT is_archived FOR SHARE`);
  if (!folder) throw badRequest('Invalid channel folder ID');
  return folder;
}

export const toFolder = (row: FolderRow) => ({
  id: row.id,
  name: row.name,
  description: row.description,
  rendered_description: row.rendered_description,
  date_created: Math.floor(row.created_at.getTime() / 1000),
  creator_id: row.creator_id,
  order: row.position,
  is_archived: row.is_archived,
});
