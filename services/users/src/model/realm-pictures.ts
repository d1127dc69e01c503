import { defaultIconPath } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

export const pictureKinds = ['icon', 'logo', 'night_logo'] as const;
export type PictureKind = (typeof pictureKinds)[number];

const versionRow = z.object({ kind: z.enum(pictureKinds), version: z.number() });

/** Path and source of each: U for uploaded, D for the server's default. */
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
    if (!uploaded) return [kind === 'icon' ? defaultIconPath : '/static/natter-logo.svg', 'D'];
    return [`/user_avatars/realm/${kind}?version=${uploaded.version}`, 'U'];
  };
  return { icon: of('icon'), logo: of('logo'), night_logo: of('night_logo') };
}

export const emojiDataUrl = (realmUrl: string): string => `${realmUrl}/static/emoji_data.json`;
