import { type ProfileField, profileFieldTypes } from '@natter/contracts';
import { type Executor, lock, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { noteOtherLock } from './lock-order.ts';

const fieldRow = z.object({
  id: z.number(),
  type: z.number(),
  order: z.number(),
  name: z.string(),
  hint: z.string(),
  field_data: z.string(),
  display_in_profile_summary: z.boolean(),
  required: z.boolean(),
  editable_by_user: z.boolean(),
});

export const readFields = (executor: Executor, realmId: number): Promise<ProfileField[]> =>
  executor.any(sql.type(fieldRow)`
    SELECT id, type, position AS order, name, hint, field_data, display_in_profile_summary, required, editable_by_user
    FROM users.profile_field WHERE realm_id = ${realmId} ORDER BY position, id`);

/**
 * Locks and returns the profile fields. Changes of fields lock them alone, because limits are counted and each announced
 * list must include the previous change. Units that store values hold the lock shared: otherwise, the removal of an
 * option or a field would miss a value that was checked before the removal and committed after it.
 */
export async function holdFields(work: Work, mode: 'alone' | 'shared'): Promise<ProfileField[]> {
  noteOtherLock(work);
  await lock(work, 'profile-fields', mode);
  return readFields(work, work.realmId);
}

export async function announceFields(work: Work): Promise<void> {
  const fields = await readFields(work, work.realmId);
  const plain = { fields: withoutPronouns(fields) };
  const forms = [{ capability: 'pronouns_field_type_supported', is: false, patch: plain }];
  work.emit({ type: 'custom_profile_fields', body: { fields }, audience: 'realm', forms });
}

/** The form for clients that do not support pronoun fields: short text. */
export const withoutPronouns = (fields: readonly ProfileField[]): ProfileField[] =>
  fields.map((field) =>
    field.type === profileFieldTypes.PRONOUNS.id ? { ...field, type: profileFieldTypes.SHORT_TEXT.id } : field,
  );
