import { randomBytes } from 'node:crypto';
import { badRequest, isAdministrator, maxAvatarBytes } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { avatarUrl, pictureFields } from './account-row.ts';
import { emitPerson } from './announce-account.ts';
import { announceBotChange } from './announce-bot.ts';
import { readAccount } from './find-account.ts';
import type { Image } from './images/image.ts';
import { accountsOf, personOf } from './own-accounts.ts';

/** Refuses a change of pictures if the organization permits none. */
export function requireAvatarChanges(
  { settings }: { settings: { avatar_changes_disabled: boolean } },
  by: { role: number },
): void {
  if (settings.avatar_changes_disabled && !isAdministrator(by))
    throw badRequest('Avatar changes are disabled in this organization.');
}

/** Stores the picture of an account. Requires that the unit has locked the realm. */
export async function storeAvatar(work: Work, id: number, { contentType, bytes }: Image): Promise<void> {
  const token = randomBytes(16).toString('hex');
  await work.run(sql.unsafe`
    INSERT INTO users.avatar (user_id, realm_id, token, content_type, picture)
    VALUES (${id}, ${work.realmId}, ${token}, ${contentType}, decode(${bytes.toString('base64')}, 'base64'))
    ON CONFLICT (user_id) DO UPDATE SET token = excluded.token, content_type = excluded.content_type, picture = excluded.picture`);
  await work.run(sql.unsafe`
    UPDATE users.account SET avatar_token = ${token}, avatar_version = avatar_version + 1 WHERE id = ${id}`);
  await requireRoomForPictures(work, id);
}

interface AvatarChange {
  realm: Parameters<typeof requireAvatarChanges>[0];
  by: { role: number };
  botId: number;
}

/** Stores the picture of a bot, and returns its address. */
export async function giveBotAvatar(work: Work, { realm, by, botId }: AvatarChange, image: Image): Promise<string> {
  requireAvatarChanges(realm, by);
  await storeAvatar(work, botId, image);
  return announceAvatar(work, botId);
}

/**
 * Announces the picture of an account, and returns its address. The realm is locked, because the receivers of events about bots
 * depend on roles.
 */
export async function announceAvatar(work: Work, id: number): Promise<string> {
  const row = await readAccount(work, work.realmId, id);
  emitPerson(work, { user_id: id, ...pictureFields(row) });
  if (row.is_bot) await announceBotChange(work, row, { avatar_url: avatarUrl(row) });
  return avatarUrl(row);
}

/** The realm is locked, so the pictures of a person are stored one after the other. */
async function requireRoomForPictures(work: Work, accountId: number): Promise<void> {
  const accounts = accountsOf(work.realmId, personOf(accountId));
  const { bytes } = await work.one(sql.type(z.object({ bytes: z.number() }))`
    SELECT coalesce(sum(octet_length(picture)), 0)::float8 AS bytes FROM users.avatar WHERE user_id IN ${accounts}`);
  if (bytes > maxAvatarBytes)
    throw badRequest(`Too much data in pictures of one user and their bots (limit: ${maxAvatarBytes / 1024} KiB)`);
}
