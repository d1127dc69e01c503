import { type Actor, badRequest, isRefusal, type Page, type RequestMeta, socialOperations } from '@natter/contracts';
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
import { type AccountRow, avatarSource, avatarUrl } from '../model/account-row.ts';
import { findAccount, noSuchUser, readAccount } from '../model/find-account.ts';
import { checkedImage, imagePage, noImage, redirect } from '../model/images/image.ts';
import { pngPage } from '../model/images/static-page.ts';
import { lockRealm, readRealm } from '../model/read-realm.ts';
import { announceAvatar, requireAvatarChanges, storeAvatar } from '../model/store-avatar.ts';
import { hiddenFrom } from '../model/user-visibility.ts';
import { drawnPicture } from './drawn-picture.ts';

const pictureRow = z.object({ content_type: z.string(), picture: z.instanceof(Buffer) });

interface Picture {
  who: string;
  size: '' | '/medium';
}

const mediumOf = (who: string): Picture => ({ who, size: '/medium' });

/**
 * Mobile clients append `-medium.png` to the path of a picture for the larger one. The end of an address of a user is not read.
 */
function pictureOf(text: string): Picture {
  const who = /^([^@]+)-medium\.png$/.exec(text)?.[1];
  return who === undefined ? { who: text, size: '' } : mediumOf(who);
}

const drawnPage = ({ realmId }: RequestMeta, { who, size }: Picture): Page =>
  pngPage(drawnPicture(`${realmId} ${who}`, size === '' ? 100 : 500));

export function avatarHandlers(owner: Owner): Handlers {
  const { database } = owner;

  const uploaded = async ({ realmId }: RequestMeta, { who }: Picture): Promise<Page | JsonPieces> => {
    const row = await database.maybeOne(sql.type(pictureRow)`
      SELECT content_type, picture FROM users.avatar WHERE realm_id = ${realmId} AND token = ${who}`);
    return row ? imagePage({ contentType: row.content_type, bytes: row.picture }) : noImage;
  };

  /** The answer does not reveal whether an invisible user exists. */
  async function leadTo(actor: Actor | undefined, meta: RequestMeta, { who, size }: Picture): Promise<Page> {
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
      const image = checkedImage(file);
      return write(context, (work, id) => storeAvatar(work, id, image));
    }),

    handleWrite(socialOperations.removeAvatar, async (context) =>
      write(context, async (work, id) => {
        await work.run(sql.unsafe`DELETE FROM users.avatar WHERE user_id = ${id}`);
        await work.run(sql.unsafe`
          UPDATE users.account SET avatar_token = NULL, avatar_version = avatar_version + 1 WHERE id = ${id}`);
      }),
    ),

    handle(socialOperations.avatar, async ({ actor, meta }, { who }) => leadTo(actor, meta, pictureOf(who))),
    handle(socialOperations.mediumAvatar, async ({ actor, meta }, { who }) => leadTo(actor, meta, mediumOf(who))),
    handle(socialOperations.drawnAvatar, async ({ meta }, { who }) => drawnPage(meta, pictureOf(who))),
    handle(socialOperations.mediumDrawnAvatar, async ({ meta }, { who }) => drawnPage(meta, mediumOf(who))),
    handle(socialOperations.uploadedAvatar, async ({ meta }, { who }) => uploaded(meta, pictureOf(who))),
    handle(socialOperations.mediumUploadedAvatar, async ({ meta }, { who }) => uploaded(meta, mediumOf(who))),
  ];
}

/** The realm is locked, because the receivers of events about bots depend on roles. */
function write(
  context: WriteContext,
  store: (work: Work, id: number) => Promise<unknown>,
): Promise<{ avatar_url: string }> {
  return context.write(async (work) => {
    const realm = await lockRealm(work);
    const { id, role } = await readAccount(work, work.realmId, context.actor.userId);
    requireAvatarChanges(realm, { role });
    await store(work, id);
    return { avatar_url: await announceAvatar(work, id) };
  });
}
