import { type Page, type RequestMeta, realmOperations } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { type Handlers, handle, type Owner, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { change } from '../change.ts';
import { holderOf, requireAdministrator } from '../groups/holder.ts';
import { checkedImage, imagePage, noImage, redirect } from './image.ts';
import { pictureOf } from './pictures.ts';
import { readRealm } from './read-realm.ts';

export const pictureKinds = ['icon', 'logo', 'night_logo'] as const;
export type PictureKind = (typeof pictureKinds)[number];

const versionRow = z.object({ kind: z.enum(pictureKinds), version: z.number() });
const pictureRow = z.object({ content_type: z.string(), picture: z.instanceof(Buffer) });

export function realmPictureHandlers(owner: Owner): Handlers {
  const put = <R>(context: UserContext, kind: PictureKind, file: string, answerOf: (url: string) => R): Promise<R> => {
    const { contentType, bytes } = checkedImage(file);
    return write(context, kind, answerOf, (work) =>
      work.run(sql.unsafe`
        INSERT INTO users.realm_picture AS p (realm_id, kind, content_type, picture) VALUES (${work.realmId}, ${kind}, ${contentType}, decode(${bytes.toString('base64')}, 'base64'))
        ON CONFLICT (realm_id, kind) DO UPDATE SET content_type = excluded.content_type, picture = excluded.picture, version = p.version + 1`),
    );
  };
  const drop = <R>(context: UserContext, kind: PictureKind, answerOf: (url: string) => R): Promise<R> =>
    write(context, kind, answerOf, (work) =>
      work.run(
        sql.unsafe`UPDATE users.realm_picture SET picture = NULL WHERE realm_id = ${work.realmId} AND kind = ${kind}`,
      ),
    );
  const write = <R>(
    context: UserContext,
    kind: PictureKind,
    answerOf: (url: string) => R,
    store: (work: Work) => Promise<unknown>,
  ): Promise<R> =>
    change(owner, context, async (work) => {
      requireAdministrator(await holderOf(work, context.actor.userId));
      await store(work);
      const [path, source] = (await readPictures(work, work.realmId))[kind];
      const { url: realmUrl } = await readRealm(work, work.realmId);
      const url = `${realmUrl}${path}`;
      const data = { [`${kind}_url`]: url, [`${kind}_source`]: source };
      work.emit({ type: 'realm', op: 'update_dict', body: { property: kind, data }, audience: 'realm' });
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
    handle(realmOperations.addRealmIcon, async (context, { file }) => put(context, 'icon', file, iconAnswer)),
    handle(realmOperations.removeRealmIcon, (context) => drop(context, 'icon', iconAnswer)),
    handle(realmOperations.addRealmLogo, async (context, { file, night }) => put(context, logo(night), file, done)),
    handle(realmOperations.removeRealmLogo, (context, { night }) => drop(context, logo(night), done)),
    handle(realmOperations.realmPicture, async ({ meta }, { kind }) => {
      const row = await owner.database.maybeOne(sql.type(pictureRow)`
        SELECT content_type, picture FROM users.realm_picture WHERE realm_id = ${meta.realmId} AND kind = ${kind} AND picture IS NOT NULL`);
      return row ? imagePage({ contentType: row.content_type, bytes: row.picture }) : noImage;
    }),
  ];
}

/** Path and source of each: U for uploaded, D for the server's own. */
export async function readPictures(
  executor: Executor,
  realmId: number,
): Promise<Record<PictureKind, [path: string, source: 'U' | 'D']>> {
  const rows = await executor.any(
    sql.type(
      versionRow,
    )`SELECT kind, version FROM users.realm_picture WHERE realm_id = ${realmId} AND picture IS NOT NULL`,
  );
  const of = (kind: PictureKind): [string, 'U' | 'D'] => {
    const uploaded = rows.find((row) => row.kind === kind);
    if (!uploaded) return [pictureOf(kind === 'icon' ? 'icon' : 'logo'), 'D'];
    return [`/user_avatars/realm/${kind}?version=${uploaded.version}`, 'U'];
  };
  return { icon: of('icon'), logo: of('logo'), night_logo: of('night_logo') };
}
