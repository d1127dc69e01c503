import { ChatError } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { requireSpace, spaceTaken } from '../model/files/attachment-row.ts';
import { mib, type UploadLimits } from './add-attachment.ts';

/** The unfinished uploads of a person and their bots. */
export const ofPerson = (realmId: number, personId: number) => sql.fragment`messaging.resumable_upload u
  LEFT JOIN messaging.standing s ON s.realm_id = u.realm_id AND s.user_id = u.owner_id
  WHERE u.realm_id = ${realmId} AND u.received < u.size AND u.expires_at > now() AND coalesce(s.bot_owner_id, u.owner_id) = ${personId}`;

/** Refuses what the realm has no room for. */
export async function requireQuota(work: Work, moreBytes: number, quotaMib: number): Promise<void> {
  try {
    requireSpace((await spaceTaken(work, work.realmId)) + moreBytes, quotaMib);
  } catch (error) {
    // Clients repeat a request that is answered with 400.
    throw error instanceof ChatError ? tooLarge(error.message) : error;
  }
}

/** The part of the quota that unfinished uploads of one person may take. */
const part = 0.1;
const bytesRow = z.object({ bytes: z.number() });

/** Unfinished data is in no list of files, so that nobody could see who fills the quota. */
export async function requirePersonsSpace(
  work: Work,
  personId: number,
  { maxMib, quotaMib }: UploadLimits,
): Promise<void> {
  const { bytes } = await work.one(sql.type(bytesRow)`
    SELECT coalesce(sum(u.received), 0)::float8 AS bytes FROM ${ofPerson(work.realmId, personId)}`);
  if (bytes > Math.max(maxMib, quotaMib * part) * mib)
    throw tooLarge('Your unfinished uploads take too much space. Finish or delete some of them.');
}

export const tooLarge = (message: string): ChatError => new ChatError('REQUEST_TOO_LARGE', message);
