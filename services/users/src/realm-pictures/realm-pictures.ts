import { type BodyOf, type Page, type RequestMeta, realmOperations } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner, type WriteContext } from '@natter/service-kit';
import { z } from 'zod';
import { checkedImage, imagePage, noImage, redirect } from '../model/images/image.ts';
import { readRealm } from '../model/read-realm.ts';
import { type PictureKind, readPictures } from '../model/realm-pictures.ts';

const pictureRow = z.object({ content_type: z.string(), picture: z.instanceof(Buffer) });

function pictureChange(kind: PictureKind, url: string, source: 'U' | 'D'): BodyOf<'realm/update_dict'> {
  if (kind === 'icon') return { property: kind, data: { icon_url: url, icon_source: source } };
  if (kind === 'logo') return { property: kind, data: { logo_url: url, logo_source: source } };
  return { property: kind, data: { night_logo_url: url, night_logo_source: source } };
}

export function realmPictureHandlers(owner: Owner): Handlers {
  const put = <R>(context: WriteContext, kind: PictureKind, file: string, answerOf: (url: string) => R): Promise<R> => {
    const { contentType, bytes } = checkedImage(file);
    return write(context, kind, answerOf, (work) =>
      work.run(sql.unsafe`
        INSERT INTO users.realm_picture AS p (realm_id, kind, content_type, picture) VALUES (${work.realmId}, ${kind}, ${contentType}, decode(${bytes.toString('base64')}, 'base64'))
        ON CONFLICT (realm_id, kind) DO UPDATE SET content_type = excluded.content_type, picture = excluded.picture, version = p.version + 1`),
    );
  };
  const drop = <R>(context: WriteContext, kind: PictureKind, answerOf: (url: string) => R): Promise<R> =>
    write(context, kind, answerOf, (work) =>
      work.run(
        sql.unsafe`UPDATE users.realm_picture SET picture = NULL WHERE realm_id = ${work.realmId} AND kind = ${kind}`,
      ),
    );
  const write = <R>(
    context: WriteContext,
    kind: PictureKind,
    answerOf: (url: string) => R,
    store: (work: Work) => Promise<unknown>,
  ): Promise<R> =>
    context.write(async (work) => {
      await store(work);
      const [path, source] = (await readPictures(work, work.realmId))[kind];
      const { url: realmUrl } = await readRealm(work, work.realmId);
      const url = `${realmUrl}${path}`;
      work.emit({ type: 'realm', op: 'update_dict', body: pictureChange(kind, url, source), audience: 'realm' });
      return answerOf(url);
    });
  const leadTo = async (meta: RequestMeta, kind: PictureKind): Promise<Page> =>
    redirect((await readPictures(owner.database, meta.realmId))[kind][0]);
  const logo = (isNight: boolean): PictureKind => (isNight ? 'night_logo' : 'logo');
  const iconAnswer = (icon_url: string) => ({ icon_url });
  const done = () => ({});
  return [
    handle(realmOperations.getRealmIcon, async ({ meta }) => leadTo(meta, 'icon')),
    handle(realmOperations.getRealmLogo, async ({ meta }, { night }) => leadTo(meta, logo(night))),
    handleWrite(realmOperations.addRealmIcon, async (context, { file }) => put(context, 'icon', file, iconAnswer)),
    handleWrite(realmOperations.removeRealmIcon, (context) => drop(context, 'icon', iconAnswer)),
    handleWrite(realmOperations.addRealmLogo, async (context, { file, night }) =>
      put(context, logo(night), file, done),
    ),
    handleWrite(realmOperations.removeRealmLogo, (context, { night }) => drop(context, logo(night), done)),
    handle(realmOperations.realmPicture, async ({ meta }, { kind }) => {
      const row = await owner.database.maybeOne(sql.type(pictureRow)`
        SELECT content_type, picture FROM users.realm_picture WHERE realm_id = ${meta.realmId} AND kind = ${kind} AND picture IS NOT NULL`);
      return row ? imagePage({ contentType: row.content_type, bytes: row.picture }) : noImage;
    }),
  ];
}
