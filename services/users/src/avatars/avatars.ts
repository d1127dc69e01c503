import { randomBytes } from 'node:crypto';
import {
  type Actor,
  badRequest,
  isAdministrator,
  isRefusal,
  maxAvatarBytes,
  type Page,
  type RequestMeta,
  socialOperations,
} from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import {
  type Handlers,
  handle,
  handleWrite,
  type JsonPieces,
  type Owner,
  type WriteContext,
} from '@natter/service-kit';
import { z } from 'zod';
import { type AccountRow, avatarSource, avatarUrl, pictureFields } from '../model/account-row.ts';
import { emitPerson } from '../model/announce-account.ts';
import { announceBotChange } from '../model/announce-bot.ts';
import { findAccount, noSuchUser, readAccount } from '../model/find-account.ts';
import { checkedImage, imagePage, noImage, redirect } from '../model/images/image.ts';
import { ownAccounts } from '../model/own-accounts.ts';
import { lockRealm, readRealm } from '../model/read-realm.ts';
import { hiddenFrom } from '../model/user-visibility.ts';
import { drawnPicture } from './drawn-picture.ts';

const pictureRow = z.object({ content_type: z.string(), picture: z.instanceof(Buffer) });

export function avatarHandlers(owner: Owner): Handlers {
  const { database } = owner;

  const uploaded = async (realmId: number, token: string): Promise<Page | JsonPieces> => {
    const row = await database.maybeOne(sql.type(pictureRow)`
      SELECT content_type, picture FROM users.avatar WHERE realm_id = ${realmId} AND token = ${token}`);
    return row ? imagePage({ contentType: row.content_type, bytes: row.picture }) : noImage;
  };

  /** The answer does not reveal whether an invisible user exists. */
  async function leadTo(actor: Actor | undefined, meta: RequestMeta, who: string, size: '' | '/medium'): Promise<Page> {
    const row = await known(actor, meta, who).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      return undefined;
    });
    const drawn = `/user_avatars/drawn/${encodeURIComponent(who)}${size}`;
    return redirect(row && avatarSource(row) === 'U' ? avatarUrl(row, size) : drawn);
  }

  async function known(actor: Actor | undefined, meta: RequestMeta, who: string): Promise<AccountRow> {
    const isOpen = actor !== undefined || (await readRealm(database, meta.realmId)).settings.enable_spectator_access;
    // A spectator cannot look users up by address.
    if (!isOpen || (!actor && !/^\d{1,9}$/.test(who))) throw noSuchUser();
    const row = await findAccount(database, meta.realmId, who, { viewer: actor });
    if ((await hiddenFrom(database, meta.realmId, actor)).has(row.id)) throw noSuchUser();
    return row;
  }

  return [
    handleWrite(socialOperations.setAvatar, async (context, { file }) => {
      if (file === undefined) throw badRequest('You must upload exactly one avatar.');
      const { contentType, bytes } = checkedImage(file);
      const token = randomBytes(16).toString('hex');
      return write(context, async (work, { id }) => {
        await work.run(sql.unsafe`
          INSERT INTO users.avatar (user_id, realm_id, token, content_type, picture)
          VALUES (${id}, ${work.realmId}, ${token}, ${contentType}, decode(${bytes.toString('base64')}, 'base64'))
          ON CONFLICT (user_id) DO UPDATE SET token = excluded.token, content_type = excluded.content_type, picture = excluded.picture`);
        await work.run(sql.unsafe`
          UPDATE users.account SET avatar_token = ${token}, avatar_version = avatar_version + 1 WHERE id = ${id}`);
        await requireRoomForPictures(work, context.actor);
      });
    }),

    handleWrite(socialOperations.removeAvatar, async (context) =>
      write(context, async (work, { id }) => {
        await work.run(sql.unsafe`DELETE FROM users.avatar WHERE user_id = ${id}`);
        await work.run(sql.unsafe`
          UPDATE users.account SET avatar_token = NULL, avatar_version = avatar_version + 1 WHERE id = ${id}`);
      }),
    ),

    handle(socialOperations.avatar, async ({ actor, meta }, { who }) => leadTo(actor, meta, who, '')),
    handle(socialOperations.mediumAvatar, async ({ actor, meta }, { who }) => leadTo(actor, meta, who, '/medium')),
    handle(socialOperations.drawnAvatar, async ({ meta }, { who }) => drawnPicture(`${meta.realmId} ${who}`, 100)),
    handle(socialOperations.mediumDrawnAvatar, async ({ meta }, { who }) =>
      drawnPicture(`${meta.realmId} ${who}`, 500),
    ),
    handle(socialOperations.uploadedAvatar, async ({ meta }, { who }) => uploaded(meta.realmId, who)),
    handle(socialOperations.mediumUploadedAvatar, async ({ meta }, { who }) => uploaded(meta.realmId, who)),
  ];
}

/** The realm is locked, so the pictures of a person are stored one after the other. */
async function requireRoomForPictures(work: Work, actor: Actor): Promise<void> {
  const { bytes } = await work.one(sql.type(z.object({ bytes: z.number() }))`
    SELECT coalesce(sum(octet_length(picture)), 0)::float8 AS bytes FROM users.avatar WHERE user_id IN ${ownAccounts(actor)}`);
  if (bytes > maxAvatarBytes)
    throw badRequest(`Too much data in pictures of one user and their bots (limit: ${maxAvatarBytes / 1024} KiB)`);
}

/** The realm is locked, because the receivers of events about bots depend on roles. */
function write(
  context: WriteContext,
  store: (work: Work, row: AccountRow) => Promise<void>,
): Promise<{ avatar_url: string }> {
  return context.write(async (work) => {
    const { settings } = await lockRealm(work);
    const before = await readAccount(work, work.realmId, context.actor.userId);
    if (settings.avatar_changes_disabled && !isAdministrator(before))
      throw badRequest('Avatar changes are disabled in this organization.');
    await store(work, before);
    const row = await readAccount(work, work.realmId, before.id);
    emitPerson(work, { user_id: row.id, ...pictureFields(row) });
    if (row.is_bot) await announceBotChange(work, row, { avatar_url: avatarUrl(row) });
    return { avatar_url: avatarUrl(row) };
  });
}
