import { badRequest, channelOperations, isVisible, totals } from '@natter/contracts';
import { duplicateAs, lock, requireRoom, sql, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { deciding, reading, type Service } from '../model/deciding.ts';
import { checkedDescription } from '../model/descriptions.ts';
import { foldersOf, lockedFolder, toFolder } from '../model/folder-row.ts';
import { renderedDescriptions } from '../model/rendered-descriptions.ts';

const maxFolderNameLength = 60;

export function folderHandlers(service: Service): Handlers {
  return [
    handle(channelOperations.getChannelFolders, (context, { include_archived }) =>
      reading(service, context, async (database) => {
        const folders = await foldersOf(database, context.actor.realmId, include_archived);
        return { channel_folders: folders.map(toFolder) };
      }),
    ),

    handleWrite(channelOperations.createChannelFolder, async (context, params) => {
      const htmlOf = await renderedDescriptions(service, context.actor, [params.description]);
      return deciding(service, context, async (decision) => {
        const { work, actor } = decision;
        const name = checkedName(params.name);
        const description = checkedDescription(params.description);
        await oneAtATime(work);
        const { id } = await inUseUnless(
          work.one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO channels.folder (realm_id, name, description, rendered_description, creator_id, position)
            SELECT ${work.realmId}, ${name}, ${description}, ${htmlOf(description)}, ${actor.userId},
              coalesce(max(position) + 1, 0) FROM channels.folder WHERE realm_id = ${work.realmId} RETURNING id`),
        );
        await requireRoom(work, totals.channelFolders, sql.fragment`channels.folder WHERE realm_id = ${work.realmId}`);
        const channel_folder = toFolder(await lockedFolder(work, id));
        work.emit({ type: 'channel_folder', op: 'add', body: { channel_folder }, audience: 'realm' });
        return { channel_folder_id: id };
      });
    }),

    handleWrite(channelOperations.reorderChannelFolders, (context, params) =>
      deciding(service, context, async (decision) => {
        const { work } = decision;
        await oneAtATime(work);
        const known = (await foldersOf(work, work.realmId, true)).map(({ id }) => id);
        const { order } = params;
        if (order.length !== known.length || known.some((id) => !order.includes(id)))
          throw badRequest('Invalid order mapping.');
        await work.run(sql.unsafe`
          UPDATE channels.folder f SET position = r.position - 1
          FROM unnest(${sql.array(order, 'int4')}) WITH ORDINALITY AS r (id, position) WHERE f.id = r.id AND f.realm_id = ${work.realmId}`);
        work.emit({ type: 'channel_folder', op: 'reorder', body: { order }, audience: 'realm' });
        return {};
      }),
    ),

    handleWrite(channelOperations.updateChannelFolder, async (context, params) => {
      const htmlOf = await renderedDescriptions(service, context.actor, [params.description]);
      return deciding(service, context, async (decision) => {
        const { work } = decision;
        const before = await lockedFolder(work, params.channel_folder_id);
        const name = params.name === undefined ? before.name : checkedName(params.name);
        const description =
          params.description === undefined ? before.description : checkedDescription(params.description);
        const is_archived = params.is_archived ?? before.is_archived;
        if (is_archived && !before.is_archived) await mustBeEmpty(work, before.id);
        const data = {
          ...(name === before.name ? {} : { name }),
          ...(description === before.description ? {} : { description, rendered_description: htmlOf(description) }),
          ...(is_archived === before.is_archived ? {} : { is_archived }),
        };
        if (Object.keys(data).length === 0) return {};
        await inUseUnless(
          work.run(sql.unsafe`
            UPDATE channels.folder SET name = ${name}, description = ${description}, rendered_description = coalesce(${data.rendered_description ?? null}, rendered_description),
              is_archived = ${is_archived} WHERE id = ${before.id}`),
        );
        work.emit({
          type: 'channel_folder',
          op: 'update',
          body: { channel_folder_id: before.id, data },
          audience: 'realm',
        });
        return {};
      });
    }),
  ];
}

function checkedName(name: string): string {
  const stripped = name.trim();
  if (!isVisible(stripped)) throw badRequest("Channel folder name can't be empty.");
  if ([...stripped].length > maxFolderNameLength)
    throw badRequest(`name is too long (limit: ${maxFolderNameLength} characters)`);
  const position = [...stripped].findIndex((char) => /[\p{Cc}\p{Cn}\p{Cs}]/u.test(char));
  if (position >= 0) throw badRequest(`Invalid character in channel folder name, at position ${position + 1}.`);
  return stripped;
}

/** Positions are assigned sequentially. */
const oneAtATime = (work: Work): Promise<void> => lock(work, 'channel-folders');

async function inUseUnless<R>(write: Promise<R>): Promise<R> {
  return write.catch(duplicateAs(() => badRequest('Channel folder name already in use')));
}

async function mustBeEmpty(work: Work, folderId: number): Promise<void> {
  const channel = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM channels.channel WHERE realm_id = ${work.realmId} AND folder_id = ${folderId} LIMIT 1`);
  if (channel) throw badRequest('You need to remove all the channels from this folder to archive it.');
}
