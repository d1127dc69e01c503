import { ChatError, isRefusal } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { requireSpace, spaceTaken } from '../model/files/attachment-row.ts';
import { mib, type UploadLimits } from './add-attachment.ts';

/**
 * The uploads that a person and their bots created: those of a bot stay with its owner of that moment, so that nobody gets
 * room by giving a bot away.
 */
export const uploadsOf = (realmId: number, personId: number) => sql.fragment`messaging.resumable_upload
  WHERE realm_id = ${realmId} AND expires_at > now() AND coalesce(person_id, owner_id) = ${personId}`;
export const unfinishedOf = (realmId: number, personId: number) =>
  sql.fragment`${uploadsOf(realmId, personId)} AND received < size`;

/** Refuses what the realm has no room for. */
export async function requireQuota(work: Work, moreBytes: number, quotaMib: number): Promise<void> {
  try {
    requireSpace((await spaceTaken(work, work.realmId)) + moreBytes, quotaMib);
  } catch (error) {
    // Clients repeat a request that is answered with 400.
    throw isRefusal(error) ? tooLarge(error.message) : error;
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
    SELECT coalesce(sum(received), 0)::float8 AS bytes FROM ${unfinishedOf(work.realmId, personId)}`);
  if (bytes > Math.max(maxMib, quotaMib * part) * mib)
    throw tooLarge('Your unfinished uploads take too much space. Finish or delete some of them.');
}

export const tooLarge = (message: string): ChatError => new ChatError('REQUEST_TOO_LARGE', message);
